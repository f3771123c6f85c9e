/** Splits `GET /payments` into its method and its path. */
export const targetOf = (target: string): { readonly method: Method; readonly path: string } => {
  const space = target.indexOf(' ');
  const method = METHODS.find((one) => one === target.slice(0, space));
  if (!method) throw new Error(`${target} does not begin with a method`);
  return { method, path: target.slice(space + 1) };
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];
