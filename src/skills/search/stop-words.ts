/**
 * Words that do not identify a skill: English function words and polite phrases of requests. They are removed from descriptions,
 * bodies and queries, but kept in names, where every word matters.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against ago all almost also although always am among an and another any anybody anyone
anything anyway are aren around as at away back be became because become been before being below between both but by
came can cannot could couldn did didn do does doesn doing don done down during each either else etc even ever every
everybody everyone everything few for from further get gets getting give given go goes going gonna got gotten had
hadn has hasn have haven having he hello help helped helps her here hers herself hey hi him himself his how however
i if im in instead into is isn it its itself ive just keep keeps kind know knows lately let lets like likely ll look
looking looks lot lots make makes making many may maybe me might mine more most much must my myself need needed
needs neither never no nobody none nor not nothing now of off often ok okay on once one only onto or other others
otherwise our ours ourselves out over own perhaps please possible possibly pretty probably put quite rather re
really right said same say says see seem seems several shall she should shouldn show since so some somebody someone
something sometimes soon still stuff such sure take takes taking tell than thank thanks that the their theirs them
themselves then there these they thing things think this those though through thus till to today together too toward
tried tries try trying under unless until up upon us use used user users uses using usually ve very via wanna want
wanted wants was wasn way we well went were weren what whatever when whenever where wherever whether which while who
whoever whole whom whose why will with within without won would wouldn yeah yes yet you your yours yourself
yourselves`.split(/\s+/),
);

/** Chinese and Japanese stop words, removed from a run of characters before it is split into pairs. */
export const STOP_PHRASES: readonly string[] =
  `请帮我 帮我们 帮我 帮忙 麻烦你 麻烦 请问 请你 我想要 我想 我需要 我们 我要 你们 他们 它们 自己 能不能 可不可以 可以 是否 能否 怎么样 怎么 怎样 如何
什么 为什么 哪些 哪个 一下 一个 一些 一份 一篇 一张 一条 这个 那个 这些 那些 这份 这篇 这段 这里 那里 现在 然后 但是 因为 所以 如果 或者 以及 并且
而且 还是 还有 需要 想要 希望 进行 使用 用于 用户 时候 已经 应该 的话 之后 之前 里面 その この する ため ください して です ます から まで こと もの
について という`.split(/\s+/);

/** Single function characters; a pair that starts or ends with one of them is noise. */
export const STOP_CHARACTERS: ReadonlySet<string> = new Set(
  '的了着过吗呢吧啊呀嘛我你您他她它们在是和与或把被给让就都也很请这那个为以及等并到从对中上下里',
);
