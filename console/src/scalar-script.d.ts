/** URL of Scalar's script, provided by vite.config.ts. */
declare module 'scalar-script' {
  const address: string;
  export default address;
}
