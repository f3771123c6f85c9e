const loaded = new Map<string, Promise<void>>();

const load = (address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = address;
    script.onload = () => resolve();
    script.onerror = () => {
      // The next attempt loads the script again.
      loaded.delete(address);
      script.remove();
      reject(new Error(`${address} cannot be loaded`));
    };
    document.head.append(script);
  });

/** Loads a vendor's script once. */
export const loadScript = (address: string): Promise<void> => {
  const known = loaded.get(address) ?? load(address);
  loaded.set(address, known);
  return known;
};
