// What Power Automate says when a workflow does not take a message.
import type { Outcome } from '../../core/delivery.ts';
import { type HttpAnswer, outcomeOf, outcomeOfAnswer, retryAfterMs } from '../http/answer.ts';

// A flow that is switched off answers 400 with the first of these, and so does one that was deleted: neither is the
// fault of the message. Source: github.com/microsoft/coe-starter-kit, issue 8684.
const disabledCodes: readonly unknown[] = ['WorkflowTriggerIsNotEnabled', 'WorkflowDisabled'];

/** @param now epoch ms */
export function outcomeOfWorkflow(answer: HttpAnswer, now: number): Outcome {
  const refused = answer.status >= 400 && answer.status < 500;
  if (refused && disabledCodes.includes(errorCodeOf(answer.body))) {
    return outcomeOf('passing', 'trigger-disabled', retryAfterMs(answer, now));
  }
  return outcomeOfAnswer(answer, now, 'teams');
}

/** `code` of `{"error":{"code":…}}`: nothing else of the body may leave this file. */
function errorCodeOf(body: string): unknown {
  try {
    const parsed = JSON.parse(body) as { error?: { code?: unknown } } | null;
    return parsed?.error?.code;
  } catch {
    return undefined;
  }
}
