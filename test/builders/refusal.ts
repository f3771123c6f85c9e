import { DomainError } from '../../shared/core/errors.ts';

/** The domain error of a call. Fails the test if the call does not throw a domain error. */
export const refusalOf = (call: () => unknown): DomainError => {
  try {
    call();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

export const refusalIn = async (call: Promise<unknown>): Promise<DomainError> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
