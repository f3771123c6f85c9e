/** The value; throws if there is none. */
export const present = <T>(value: T): NonNullable<T> => {
  if (value === undefined || value === null) throw new Error('the value is absent');
  return value;
};
