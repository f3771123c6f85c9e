/** @throws Error for an absent value */
export const present = <T>(value: T): NonNullable<T> => {
  if (value === undefined || value === null) throw new Error('the value is absent');
  return value;
};
