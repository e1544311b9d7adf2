/** Address of Scalar's script, as vite.config.ts gives it. */
declare module 'scalar-script' {
  const address: string;
  export default address;
}
