/** @module Values that are built when they are first needed. */

/**
 * Builds the value at its first use and returns the same value afterwards. Use it for schemas that most functions never
 * need (the API document alone reads the schemas of responses), because building them takes a good part of a function's
 * start.
 */
/* @__NO_SIDE_EFFECTS__ */
export const once = <T>(build: () => T): (() => T) => {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
};
