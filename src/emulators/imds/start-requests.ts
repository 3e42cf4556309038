// Reads the body that approves events.
import * as z from 'zod';

const body = z.object({ StartRequests: z.array(z.object({ EventId: z.string().min(1) })).min(1) });

/**
 * Reads `{"StartRequests":[{"EventId":"..."}]}`, whatever content type it came with.
 * @returns the ids as they came, or null when it is malformed
 */
export function readStartRequests(text: string | null): readonly string[] | null {
  try {
    const parsed = body.safeParse(JSON.parse(text ?? ''));
    return parsed.success ? parsed.data.StartRequests.map((request) => request.EventId) : null;
  } catch {
    return null;
  }
}
