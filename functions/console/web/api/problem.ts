/** A failed request with the API's error, or with status 0 if there was no response. */
export class Problem extends Error {
  /** 0 if there was no response. */
  readonly status: number;
  readonly code: string;
  /** Empty if there was no response. */
  readonly requestId: string;
  readonly details: unknown;
  /** The refused fields of the request, each with the reason. */
  readonly fields: readonly string[];

  constructor(message: string, known: { status: number; code?: string; requestId?: string; details?: unknown }) {
    super(message);
    this.name = 'Problem';
    this.status = known.status;
    this.code = known.code ?? '';
    this.requestId = known.requestId ?? '';
    this.details = known.details;
    this.fields = refusedFields(known.details);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Formats each field as `quantity must not exceed 50`. */
const refusedFields = (details: unknown): readonly string[] =>
  Array.isArray(details)
    ? details.filter(isRecord).map(({ path, message }) => [textOf(path), textOf(message)].filter(Boolean).join(' '))
    : [];

export const problemOf = (response: Response, body: unknown): Problem => {
  const fields = isRecord(body) ? body : {};
  const message =
    textOf(fields['error']) || textOf(fields['message']) || `The service returned status ${response.status}`;
  return new Problem(message, {
    status: response.status,
    code: textOf(fields['code']),
    requestId: textOf(fields['request_id']) || (response.headers.get('x-request-id') ?? ''),
    details: fields['details'],
  });
};

export const unreachable = (): Problem =>
  new Problem('The service cannot be reached. Check your connection.', { status: 0 });
