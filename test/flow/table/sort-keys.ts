/** The stream of a test's table records items of this sort key. */
export const STREAMED = 'PAY';
