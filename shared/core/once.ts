/** @module Values built on first use. */

/**
 * Builds the value on first use and returns the same value afterwards. Use it for schemas that most functions never
 * need, because building schemas slows a function's start. An example is the schemas of responses, which only the API
 * document reads.
 */
/* @__NO_SIDE_EFFECTS__ */
export const once = <T>(build: () => T): (() => T) => {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
};
