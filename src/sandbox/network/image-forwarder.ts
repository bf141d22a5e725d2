/**
 * The forwarder for containers, whose images bring their own programs: in Python, or the one of Node where an image has no Python. Both
 * behave as `forwarder.ts` describes.
 */
const PYTHON = `
import os, socket, subprocess, sys, threading
path, port, forwards, *argv = sys.argv[1:]
def pump(near, far):
    try:
        while data := near.recv(65536):
            far.sendall(data)
    except OSError:
        pass
    try:
        far.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def serve(near, authority):
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(path)
        if authority:
            far.sendall(f'CONNECT {authority} HTTP/1.1\\r\\nHost: {authority}\\r\\n\\r\\n'.encode())
            answer = b''
            while not answer.endswith(b'\\r\\n\\r\\n'):
                byte = far.recv(1)
                if not byte:
                    return
                answer += byte
            if b' 200 ' not in answer.split(b'\\r\\n')[0]:
                return
        back = threading.Thread(target=pump, args=(far, near), daemon=True)
        back.start()
        pump(near, far)
        back.join()
    except OSError:
        pass
    finally:
        near.close()
        far.close()
def listen(host, number, authority):
    server = socket.create_server((host, number), family=socket.AF_INET6 if ':' in host else socket.AF_INET)
    def accept():
        while True:
            near, _ = server.accept()
            threading.Thread(target=serve, args=(near, authority), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
try:
    listen('127.0.0.1', int(port), None)
    for authority in [] if forwards == 'none' else forwards.split(','):
        host, _, number = authority.rpartition(':')
        listen('127.0.0.1' if host == 'localhost' else host.strip('[]'), int(number), authority)
except OSError as error:
    sys.exit(f'skillwright: the network proxy cannot be started: {error}')
try:
    status = subprocess.run(argv).returncode
except OSError as error:
    print(f'skillwright: {error}', file=sys.stderr)
    status = 127 if isinstance(error, FileNotFoundError) else 126
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
`;

/** Without warnings where the Node of the image would print one about the proxy variables with every program; see `quietNode`. */
const START = `
python=$1; node=$2; socket=$3; port=$4; forwards=$5; shift 5
case $(node --version 2> /dev/null) in v22.*) export NODE_NO_WARNINGS=1 ;; esac
if command -v python3 > /dev/null 2>&1; then exec python3 -I -c "$python" "$socket" "$port" "$forwards" "$@"; fi
if command -v node > /dev/null 2>&1; then exec node --input-type=module --eval "$node" -- "$socket" "$port" "$forwards" -- "$@"; fi
echo 'skillwright: network access needs an image with python3 or node; choose one with --image or execution.image' >&2
exit 126
`;

/** The start of a command; the program follows. `node` is the text of the forwarder for Node. */
export function imageForwarder(
  node: string,
  places: readonly [socket: string, port: string, forwards: string],
): readonly string[] {
  return ['/bin/sh', '-c', START, 'sh', PYTHON, node, ...places];
}
