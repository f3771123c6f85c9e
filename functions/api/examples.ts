import type { Examples } from '../../shared/openapi/document.ts';
import answers from './example-answers.json' with { type: 'json' };
import { exampleRequests } from './example-requests.ts';

const answered: Readonly<Record<string, unknown>> = answers;

/** One success of each operation, by its id. */
export const examples: Examples = Object.fromEntries(
  Object.entries(exampleRequests).map(([id, request]) => [
    id,
    { ...request, ...(answered[id] !== undefined && { response: answered[id] }) },
  ]),
);
