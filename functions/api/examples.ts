import type { Examples } from '../../shared/openapi/api-document.ts';
import accepted from './example-accepted.json' with { type: 'json' };
import answers from './example-answers.json' with { type: 'json' };
import { exampleRequests } from './example-requests.ts';

const answered: Readonly<Record<string, unknown>> = answers;
const acceptedBy: Readonly<Record<string, unknown>> = accepted;

/** One successful response per operation, by operation id. */
export const examples: Examples = Object.fromEntries(
  Object.entries(exampleRequests).map(([id, request]) => [
    id,
    {
      ...request,
      ...(answered[id] !== undefined && { response: answered[id] }),
      ...(acceptedBy[id] !== undefined && { accepted: acceptedBy[id] }),
    },
  ]),
);
