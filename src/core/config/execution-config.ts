import { EXECUTOR_NAMES } from '../execution.ts';

const EXECUTOR_CHOICES = ['auto', ...EXECUTOR_NAMES] as const;

/** The key `execution` of `.agent/config.json`. */
export const EXECUTION_SCHEMA = {
  type: 'object',
  description: 'How scripts and commands are run.',
  additionalProperties: false,
  properties: {
    executor: {
      type: 'string',
      description:
        'The executor for programs: auto uses the first that isolates; local does not isolate and is allowed only in the user file.',
      enum: EXECUTOR_CHOICES,
      default: 'auto',
    },
    allow_weaker: {
      type: 'boolean',
      description:
        'Let auto use landlock, which is weaker, where nothing else isolates. Only the user file may set it.',
      default: false,
    },
    image: { type: 'string', description: 'Image of the container executor.' },
    runtime: {
      type: 'string',
      description:
        'OCI runtime of the container executor, such as runsc (gVisor), as the engine names it. Only the user file may set it.',
    },
    network: {
      type: 'array',
      description: 'Hosts that programs may reach; a project file can only remove some.',
      maxItems: 1_000,
      items: {
        type: 'string',
        description: 'example.org, *.example.org, example.org:8443, private://db.intranet:5432.',
      },
    },
    require_approval_for: {
      type: 'array',
      description: 'Tools that always require approval.',
      items: { type: 'string', description: 'A tool, such as write_file or run_script.' },
    },
  },
} as const;
