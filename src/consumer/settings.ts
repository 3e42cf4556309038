// The settings of the consumer.
import type * as z from 'zod';
import { consumerSchema } from '../config/consumer.ts';

/** The schema of `consumer.yaml`. */
export const consumerSettings = consumerSchema;

/** What a valid `consumer.yaml` says. */
export type ConsumerSettings = z.output<typeof consumerSettings>;
