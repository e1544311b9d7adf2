// Reads values of OpenTelemetry variables. As the OpenTelemetry specification requires, an unknown or invalid value is
// ignored with a warning, as if the variable were not set: a fleet shares these variables between programs.

import { listOf } from './parse-setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

export type Environment = Record<string, string | undefined>;
/** Receives one message for each ignored value. */
export type Warn = (message: string) => void;
/** Name of a setting that has a default. */
type WithDefault = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { default: string } ? Name : never;
}[SettingName];

/** Longest part of a value that a warning quotes. */
const MAX_QUOTED_CHARS = 100;

/** Returns the functions that read one environment. */
export function createOtelReader(env: Environment, warn: Warn) {
  return { readFlag, readOneOf, readList, readNumber, readRatio };

  /** Returns true only for "true" in any case. Any other value than "false" causes a warning. */
  function readFlag(name: WithDefault): boolean {
    const text = env[name] ?? SETTINGS[name].default;
    if (!/^(true|false)$/i.test(text)) ignore(name, text, 'Only "true" has an effect.');
    return text.toLowerCase() === 'true';
  }

  /** Returns the first supported value of the variables, whose precedence is the order of the names. */
  function readOneOf<T extends string>(names: readonly string[], known: readonly T[], advice?: Advice): T | undefined {
    return firstOf(names, (name, text) => {
      const [found] = supportedOf(name, [text.trim()], known, advice);
      return found;
    });
  }

  /** Returns the supported values of a comma-separated list, or undefined if it has none. */
  function readList<T extends string>(name: string, known: readonly T[]): T[] | undefined {
    const found = supportedOf(name, listOf(env[name] ?? ''), known);
    return found.length === 0 ? undefined : found;
  }

  function supportedOf<T extends string>(name: string, texts: string[], known: readonly T[], advice?: Advice): T[] {
    const found = texts.map((text) => {
      const value = known.find((one) => one === text.toLowerCase());
      if (value === undefined) ignore(name, text, advice?.(text) ?? `Supported values: ${known.join(', ')}.`);
      return value;
    });
    return [...new Set(found.filter((value) => value !== undefined))];
  }

  /** Returns the first valid number of the variable and, if it has one, of its variant for traces only. */
  function readNumber(name: WithDefault, max: number): number {
    const setting: { default: string; tracesOnly?: string } = SETTINGS[name];
    const names = setting.tracesOnly === undefined ? [name] : [setting.tracesOnly, name];
    const found = firstOf(names, (one, text) => {
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= 1 && number <= max) return number;
      return ignore(one, text, `It must be an integer from 1 to ${max}.`);
    });
    return found ?? Number(setting.default);
  }

  /** Returns a number from 0 to 1. */
  function readRatio(name: WithDefault): number {
    const found = firstOf([name], (_, text) => {
      if (/^(\d+(\.\d*)?|\.\d+)(e-?\d+)?$/i.test(text) && Number(text) <= 1) return Number(text);
      return ignore(name, text, 'It must be a number from 0 to 1, such as 0.1.');
    });
    return found ?? Number(SETTINGS[name].default);
  }

  function firstOf<T>(names: readonly string[], read: (name: string, text: string) => T | undefined): T | undefined {
    for (const name of names) {
      const text = env[name];
      const value = text === undefined ? undefined : read(name, text);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  function ignore(name: string, text: string, advice: string): undefined {
    warn(`${name}: "${text.slice(0, MAX_QUOTED_CHARS)}" is not supported and is ignored. ${advice}`);
  }
}

/** Returns the advice for an unsupported value, or undefined for the list of supported values. */
type Advice = (text: string) => string | undefined;
