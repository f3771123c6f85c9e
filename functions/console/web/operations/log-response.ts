import { inWords } from '../view/format.ts';

/** The target's response, as stored in the log entry of an attempt. */
export interface Answer {
  readonly httpStatus: number | undefined;
  readonly durationMs: number | undefined;
  /** The reason for a missing response. */
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

/** The status code of the response, or the reason for a missing response. */
export const codeText = ({ httpStatus, error }: Answer): string => {
  if (httpStatus !== undefined) return String(httpStatus);
  return error === undefined ? '–' : inWords(error);
};

export const durationText = ({ durationMs }: Answer): string => (durationMs === undefined ? '–' : `${durationMs} ms`);

/** The payment in the payload of a canonical event. */
export const paymentIn = (payload: unknown): string | undefined => {
  const { payment_id: id } = fieldsOf(fieldsOf(payload)['data']);
  return typeof id === 'string' && /^pay_[0-9a-f]{24}$/.test(id) ? id : undefined;
};
