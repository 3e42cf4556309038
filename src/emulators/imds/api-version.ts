// Which api-versions each part of IMDS knows, and what each of them shows.

/**
 * The versions of Scheduled Events. They are not the versions of the rest of IMDS: some stand only here.
 * Source: the versioning table of Azure's Scheduled Events page.
 */
export const eventsApiVersions: readonly string[] = [
  '2017-03-01',
  '2017-08-01',
  '2017-11-01',
  '2019-01-01',
  '2019-04-01',
  '2019-08-01',
  '2020-07-01',
];

/** The preview put an underscore before names and did not yet insist on the `Metadata` header. */
export const isPreview = (apiVersion: string | null): boolean => apiVersion === '2017-03-01';

/** "Supported API versions" of Azure's instance metadata page, oldest first. */
export const instanceApiVersions: readonly string[] = `
  2017-03-01 2017-04-02 2017-08-01 2017-10-01 2017-12-01 2018-02-01 2018-04-02 2018-10-01 2019-02-01
  2019-03-11 2019-04-30 2019-06-01 2019-06-04 2019-08-01 2019-08-15 2019-11-01 2020-06-01 2020-07-15
  2020-09-01 2020-10-01 2020-12-01 2021-01-01 2021-02-01 2021-03-01 2021-05-01 2021-08-01 2021-10-01
  2021-11-01 2021-11-15 2021-12-13 2023-07-01 2023-11-15 2024-03-15 2024-07-17 2025-04-07`
  .trim()
  .split(/\s+/);

/** Whether `apiVersion` is new enough for what `introduced` brought: the dates sort as text. */
export const shows = (apiVersion: string, introduced: string): boolean => apiVersion >= introduced;
