/** A member of a union by its `type`: `OfType<Action, 'read_file'>`. */
export type OfType<Union extends { readonly type: string }, Type extends Union['type']> = Extract<
  Union,
  { readonly type: Type }
>;
