/**
 * The forwarders for containers, whose images bring their own programs: in Python, or those of Node where an image has no Python.
 */
const SHARED = `
import os, socket, subprocess, sys, threading
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
def both(near, far):
    back = threading.Thread(target=pump, args=(far, near), daemon=True)
    back.start()
    pump(near, far)
    back.join()
def accept(server, serve, *args):
    def loop():
        while True:
            near, _ = server.accept()
            threading.Thread(target=serve, args=(near, *args), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
def run(argv):
    try:
        status = subprocess.run(argv).returncode
    except OSError as error:
        print(f'skillwright: {error}', file=sys.stderr)
        status = 127 if isinstance(error, FileNotFoundError) else 126
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)
`;

/** As `forwarder.ts`: the proxy at a socket is offered at a port. */
const GRANTED = `${SHARED}
path, port, forwards, _, *argv = sys.argv[1:]
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
        both(near, far)
    except OSError:
        pass
    finally:
        near.close()
        far.close()
def listen(host, number, authority):
    accept(socket.create_server((host, number), family=socket.AF_INET6 if ':' in host else socket.AF_INET), serve, authority)
try:
    listen('127.0.0.1', int(port), None)
    for authority in [] if forwards == 'none' else forwards.split(','):
        host, _, number = authority.rpartition(':')
        listen('127.0.0.1' if host == 'localhost' else host.strip('[]'), int(number), authority)
except OSError as error:
    sys.exit(f'skillwright: the network proxy cannot be started: {error}')
run(argv)
`;

/** A port of the program is offered at a socket. A byte says that the program has accepted the connection. */
const SERVED = `${SHARED}
path, port, _, _, *argv = sys.argv[1:]
def serve(near):
    try:
        with near, socket.create_connection(('127.0.0.1', int(port))) as far:
            near.sendall(b'+')
            both(near, far)
    except OSError:
        pass
try:
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
except OSError as error:
    print(f'skillwright: the port cannot be served: {error}', file=sys.stderr)
    sys.exit(126)
accept(server, serve)
run(argv)
`;

/** Without warnings where the Node of the image would print one about the proxy variables with every program; see `quietNode`. */
const START = `
python=$1; node=$2; shift 2
case $(node --version 2> /dev/null) in v22.*) export NODE_NO_WARNINGS=1 ;; esac
if command -v python3 > /dev/null 2>&1; then exec python3 -I -c "$python" "$@"; fi
if command -v node > /dev/null 2>&1; then exec node --input-type=module --eval "$node" -- "$@"; fi
echo 'skillwright: granted hosts and --serve need an image with python3 or node; choose one with --image or execution.image' >&2
exit 126
`;

/** The start of a command; the program follows. `node` is the text of the forwarder for Node, `places` are its arguments. */
export function imageForwarder(node: string, places: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', START, 'sh', places.includes('served') ? SERVED : GRANTED, node, ...places, '--'];
}
