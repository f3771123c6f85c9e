/** The reason why the host cannot start, in one line for the operator. */
export class StartError extends Error {
  constructor(line: string, cause?: unknown) {
    super(line, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}
