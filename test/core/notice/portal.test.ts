// The way from a resource id to the portal.
import { expect, it } from 'vitest';
import { portalUrlOf } from '../../../src/core/notice/portal.ts';

it.each([
  ['/subscriptions/1/resourceGroups/rg/vm/a', '/subscriptions/1/resourceGroups/rg/vm/a'],
  ['/Subscriptions/1/x', '/Subscriptions/1/x'],
  [
    '/subscriptions/1/resourceGroups/Größe (5)/a b',
    '/subscriptions/1/resourceGroups/Gr%C3%B6%C3%9Fe%20%285%29/a%20b',
  ],
  ['/subscriptions/1/x?y#z|<script>"\'', '/subscriptions/1/x%3Fy%23z%7C%3Cscript%3E%22%27'],
  ['/subscriptions/1/half\uD800', '/subscriptions/1/half%EF%BF%BD'],
])('leads to %s, each part of its path encoded', (resourceId, path) => {
  expect(portalUrlOf(resourceId)).toBe(`https://portal.azure.com/#resource${path}/overview`);
});

it.each([
  null,
  '',
  '/',
  '/subscriptions',
  '/subscriptions/',
  '/subscriptions//x',
  '/subscriptions/1/',
  '/subscriptionsx/1',
  'subscriptions/1/x',
  'https://evil.test/subscriptions/1',
  '//evil.test/subscriptions/1',
  `/subscriptions/${'x'.repeat(1_100)}`,
])('leads nowhere from %s', (resourceId) => {
  expect(portalUrlOf(resourceId)).toBeNull();
});
