import type { Settings } from './agent.ts';

/** Whether `skills.disabled` of any settings file lists the name, in any case. Gemini CLI and Qwen Code share this setting. */
export function isDisabledName(name: string, settings: Settings): boolean {
  return settings.some(({ skills }) => {
    const disabled = typeof skills === 'object' && skills !== null && 'disabled' in skills ? skills.disabled : [];
    return Array.isArray(disabled) && disabled.some((one) => String(one).toLowerCase() === name.toLowerCase());
  });
}
