/** What filled the room of a request, in this order. `observations`: what came since the first request, answers included. */
export const CONTEXT_SECTIONS = ['rest', 'catalog', 'bodies', 'resources', 'observations'];
