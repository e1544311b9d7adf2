declare module 'sample-species' {
  /** URL of a CSV file of species that ships with the project. */
  export const url: string;
  /** Number of species in the file. */
  export const count: number;
}
