import { Component, createRef, type JSX } from 'preact';

import type { RunStep } from '../live-run.ts';
import { StepRow, type StepActions } from './step-row.tsx';

export const BLOCK = 40;
/** The height of a step that has not been drawn yet. */
const GUESS = 44;

interface BlockProps {
  readonly id: string;
  /** Drawn at once, without waiting for the observer. */
  readonly isFirst: boolean;
  readonly steps: readonly RunStep[];
  readonly open: ReadonlySet<number>;
  readonly hits: ReadonlySet<number>;
  readonly active: number | undefined;
  readonly actions: StepActions;
}

interface BlockState {
  readonly isNear: boolean;
}

/** Steps that are drawn together, or not at all. A block is drawn again only if one of its own steps differs. */
export class StepBlock extends Component<BlockProps, BlockState> {
  override state: BlockState = { isNear: this.props.isFirst };
  readonly #element = createRef<HTMLLIElement>();
  #observer: IntersectionObserver | undefined;
  #height: number | undefined;

  override componentDidMount(): void {
    this.#observer = new IntersectionObserver(
      ([entry]) => {
        const isNear = entry?.isIntersecting === true;
        if (this.state.isNear && !isNear) this.#height = this.#element.current?.offsetHeight;
        if (isNear !== this.state.isNear) this.setState({ isNear });
      },
      { rootMargin: '1000px 0px' },
    );
    if (this.#element.current !== null) this.#observer.observe(this.#element.current);
  }

  override componentWillUnmount(): void {
    this.#observer?.disconnect();
  }

  override shouldComponentUpdate(next: BlockProps, state: BlockState): boolean {
    const { steps, open, hits, active, actions } = this.props;
    if (state.isNear !== this.state.isNear || next.actions !== actions) return true;
    if (next.steps.length !== steps.length || next.steps.some((step, at) => step !== steps[at])) return true;
    if (next.active !== active && steps.some(({ key }) => key === active || key === next.active)) return true;
    const isChanged = (before: ReadonlySet<number>, after: ReadonlySet<number>): boolean =>
      before !== after && steps.some(({ key }) => before.has(key) !== after.has(key));
    return isChanged(open, next.open) || isChanged(hits, next.hits);
  }

  override render(): JSX.Element {
    const { id, steps, open, hits, active, actions } = this.props;
    const isDrawn = this.state.isNear || steps.some(({ key }) => key === active);
    const height = isDrawn ? undefined : `${String(this.#height ?? steps.length * GUESS)}px`;
    return (
      <li class="step-block" ref={this.#element} style={{ height }}>
        {isDrawn ? (
          <ol>
            {steps.map((step) => (
              <StepRow
                key={step.key}
                id={id}
                step={step}
                isOpen={open.has(step.key)}
                isHit={hits.has(step.key)}
                isActive={step.key === active}
                actions={actions}
              />
            ))}
          </ol>
        ) : null}
      </li>
    );
  }
}
