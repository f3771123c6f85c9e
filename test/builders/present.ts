/** @throws Error if the value is absent */
export const present = <T>(value: T): NonNullable<T> => {
  if (value === undefined || value === null) throw new Error('the value is absent');
  return value;
};
