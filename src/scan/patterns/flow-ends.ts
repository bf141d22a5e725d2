/** Code that can be one end of a data flow. Only skills with such code are searched for flows (`flow/flow.ts`). */
import { patterns, type Pattern } from '../pattern.ts';

export const FLOW_END_PATTERNS: readonly Pattern[] = patterns('code', 'flow', [
  {
    says: 'names a secret',
    find: /\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws\b|\.netrc|git-credentials|docker\/config|\.kube\b|gnupg|gcloud|application_default|\.azure\b|npmrc|pypirc|password-store|keychain|\.mozilla|mozilla\/firefox|firefox\/profiles|google.chrome|bravesoftware|login data|local state|\/cookies\b|["']cookies["']|cookies\.sqlite|key4\.db|logins\.json|wallet\.dat|\.electrum|\.bitcoin|\.ethereum|solana\/id|exodus|etc\/(?:shadow|sudoers)|\.(?:bash|zsh|python|psql|mysql)_history\b|histfile|gh\/hosts|\.credentials|auth\.json|\/environ\b|vault-token|cargo\/credentials|keyrings|browser_cookie3|cryptunprotect|find-generic|find-internet|secret-tool|credential fill|os\.environb?(?:\.(?:items|values|copy|keys)\b|(?![\w.[(]))|(?<!\benv: ?(?:\{ ?)?(?:\.\.\.)?)process\.env\b(?![\w.[(?])|env\.toobject|printenv|\[ ?["']env["'] ?\]|(?:^ ?|[|;&] ?|\$\( ?)env ?(?:[|>)]|$)|export -p|declare -x?p/g,
  },
  {
    says: 'evaluates code',
    find: /(?<![\w.])(?:exec|eval|compile|function)\((?!\w{0,40}\) ?\{)|\beval ["'$`]|exec_module|runin(?:this|new|context)|_compile\(|marshal\.loads|\b(?:ba)?sh -c ["']?\$/g,
  },
  {
    says: 'opens a connection',
    find: /\bsocket\.(?:socket|create_connection)\b|\bnet\.(?:connect|socket|createconnection)\b|\btls\.connect\b|\bopen_connection\(|pickle\.loads|new websocket\(|\bimport [\w, ]{0,80}\bsocket\b|\b(?:require\(|from )['"](?:node:)?(?:net|tls|ws)['"]/g,
  },
  {
    says: 'decodes text',
    find: /b(?:64|32|16|85)decode|\batob\(|base(?:64|32) {1,4}-{1,2}d|fromhex|unhexlify|fromc(?:harcode|odepoint)|\bchr\(|\bchr,|["'\w]\[::-1\]|join\(reversed|\.reverse\(\)\.join|\bxxd [^\n|]{0,20}-r|\| ?rev\b|rot.?13|(?:\\x[0-9a-f]{2}){3}|(?:\\[0-7]{3}){3}|(?:\\u00[0-9a-f]{2}){3}|__import__\(["']|codecs\.decode|unescape\(|zlib\.decompress|inflatesync|gunzipsync|openssl [^\n|]{0,80} -d\b|buffer\.from\([^\n]{1,400}["'](?:base64|hex)["']\)/g,
  },
  {
    says: 'joins parts of a name',
    find: /[\w./~-](?:'\+'|"\+"|' \+ '|" \+ ")[\w./~-]{1,24}["']|(?:''|"")\.join\(\[|\]\.join\((?:''|"")\)|\b\w{1,6}(?:''|"")\w{1,6}\b|\$\{?ifs\b|=["']?\$\{\w{1,20}\}\w{1,12}["']?(?:$|;)|(?:^|[;&|] ?)\$\{?\w{1,20}\}? -/g,
  },
]);
