// What a tool is: one entry says its name, who may call it, what it takes and gives, and what it does.

import type { z } from 'zod';
import type { Scope } from '../domain/names.ts';
import type { PlantStore } from '../domain/plant.ts';

export interface Definition<Arguments, Given extends object> {
  name: string;
  title: string;
  description: string;
  scope: Scope;
  /** What it does to what is stored. */
  effect: 'reads' | 'adds' | 'overwrites';
  takes: z.ZodType<Arguments>;
  gives: z.ZodType<Given>;
  call(taken: Arguments, by: Caller): Promise<Outcome<Given>>;
}

export interface Caller {
  store: PlantStore;
  tokenId: string;
}

export interface Outcome<Given> {
  /** Printed as JSON each: first what HTTP answers with, then what it says in headers. */
  texts: object[];
  /** Without a number that a reader of doubles would round. */
  structured: Given;
}

export type Tool = Definition<unknown, object>;

/** Lets the types of what is taken and given flow into the call. */
export function tool<Arguments, Given extends object>(definition: Definition<Arguments, Given>): Tool {
  return definition as unknown as Tool;
}
