import { EXECUTOR_NAMES } from '../execution.ts';
import { choice, flag, list, section, text } from '../json/schema-of.ts';

const EXECUTOR_CHOICES = ['auto', ...EXECUTOR_NAMES] as const;

/** The key `execution` of `.agent/config.json`. */
export const EXECUTION_SCHEMA = section('How scripts and commands are run.', {
  executor: choice(
    'The executor for programs: auto uses the first that isolates; local does not isolate and is allowed only in the user file.',
    EXECUTOR_CHOICES,
    'auto',
  ),
  allow_weaker: flag(
    'Let auto use landlock, which is weaker, where nothing else isolates. Only the user file may set it.',
  ),
  image: text('Image of the container executor.'),
  runtime: text(
    'OCI runtime of the container executor, such as runsc (gVisor), as the engine names it. Only the user file may set it.',
  ),
  network: list(
    'Hosts that programs may reach; a project file can only remove some.',
    text('example.org, *.example.org, example.org:8443, private://db.intranet:5432.'),
    1_000,
  ),
  require_approval_for: list('Tools that always require approval.', text('A tool, such as write_file or run_script.')),
});
