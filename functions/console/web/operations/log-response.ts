import { inWords } from '../view/format.ts';

/** What a target answered, as the log entry of an attempt holds it. */
export interface Answer {
  readonly httpStatus: number | undefined;
  readonly durationMs: number | undefined;
  /** Why there was no answer. */
  readonly error: string | undefined;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

export const answerIn = (response: unknown): Answer => {
  const { http_status: httpStatus, duration_ms: durationMs, error } = fieldsOf(response);
  return {
    httpStatus: typeof httpStatus === 'number' ? httpStatus : undefined,
    durationMs: typeof durationMs === 'number' ? durationMs : undefined,
    error: typeof error === 'string' ? error : undefined,
  };
};

/** The status code of the answer, or the reason for a missing answer. */
export const codeText = ({ httpStatus, error }: Answer): string => {
  if (httpStatus !== undefined) return String(httpStatus);
  return error === undefined ? '–' : inWords(error);
};

export const durationText = ({ durationMs }: Answer): string => (durationMs === undefined ? '–' : `${durationMs} ms`);
