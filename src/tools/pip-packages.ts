import { isProblem, readPackage, type Action, type Offer, type OfType } from '#core';

const PIP = /(?<![\w./-])(?:python3?\s+-m\s+)?pip3?\s+install((?:\s+(?:"[^"$`\\]*"|'[^']*'|[^\s;&|<>()$`\\"'*?]+))+)/g;
/** Options that change nothing where a package is installed apart from the machine. */
const PIP_OPTIONS =
  /^(?:-q{1,3}|--quiet|-U|--upgrade|--user|--no-cache-dir|--no-input|--break-system-packages|--disable-pip-version-check)$/;

/**
 * A sandbox has no network and keeps the Python of the machine as it is. So what `pip install` names is installed for the session, after
 * the same questions as other packages, and pip then finds it installed.
 */
export function withPackages(
  written: string,
  { execution }: Offer,
): Pick<OfType<Action, 'run_command'>, 'command' | 'packages'> {
  if (execution?.hasPackages !== true) return { command: written };
  const packages: string[] = [];
  const command = written.replaceAll(PIP, (whole, list: string) => {
    const words = (list.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).filter((word) => !PIP_OPTIONS.test(word));
    const named = words.map((word) => word.replaceAll(/^["']|["']$/g, ''));
    if (named.length === 0 || named.some((name) => name.startsWith('-') || isProblem(readPackage(name)))) return whole;
    packages.push(...named);
    return `python3 -m pip install ${words.join(' ')}`;
  });
  return { command, packages: packages.length === 0 ? undefined : packages };
}
