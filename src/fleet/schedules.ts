/** Runs at regular times. DBOS keeps the time; each time submits a run once, however many workers there are. */
interface NewSchedule {
  readonly name: string;
  /** Five fields, as in crontab. */
  readonly cron: string;
  readonly request: string;
}

interface ScheduledRun extends NewSchedule {
  readonly isPaused: boolean;
}

/** What a schedule hands to the workflow that submits its run. */
export interface ScheduleContext {
  readonly project: string;
  readonly actor: string;
  readonly name: string;
  readonly request: string;
  readonly skillSet: string;
}

export interface Schedules {
  add(
    owner: { readonly actor: string; readonly project: string },
    schedule: NewSchedule,
    skillSet: string,
  ): Promise<void>;
  list(project: string): Promise<readonly ScheduledRun[]>;
  /** Returns false if there is no such schedule. */
  remove(project: string, name: string): Promise<boolean>;
}
