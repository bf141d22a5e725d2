import { report } from '../../report.mjs';

export const dynamic = 'force-dynamic';

export async function GET() {
  return Response.json(await report().catch(({ code, hint }) => ({ code, hint })));
}
