/** @module Runs once before the tests that need a browser, and installs the browser's package if it is missing. */
import { installOwnPackages } from '../../infra/make/own-packages.ts';

export const setup = (): void => installOwnPackages(import.meta.dirname);
