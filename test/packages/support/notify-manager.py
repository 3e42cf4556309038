# Starts a program as systemd does and prints what it says over a real datagram socket: one JSON line for each message.
import array, json, os, socket, struct, sys, tempfile, threading

way, command = sys.argv[1], sys.argv[2:]
path = os.path.join(tempfile.mkdtemp(), "notify")
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
receiver.bind(path)


def say(**fact):
    print(json.dumps(fact), flush=True)


main = os.fork()
if main == 0:
    os.environ["WATCHDOG_USEC"] = "1500000"
    os.environ["WATCHDOG_PID"] = str(os.getpid())
    if way == "descriptor":
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sender.connect(path)
        os.dup2(sender.fileno(), 3)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="notify")
    else:
        os.environ["NOTIFY_SOCKET"] = path
    os.execvp(command[0], command)


def end():
    _, status = os.waitpid(main, 0)
    say(ended=os.waitstatus_to_exitcode(status))
    os.unlink(path)
    os.rmdir(os.path.dirname(path))
    os._exit(0)


threading.Thread(target=end).start()
say(main=main)
while True:
    data, extras, _, _ = receiver.recvmsg(4096, 256)
    sender_pid = None
    for level, kind, value in extras:
        if kind == socket.SCM_RIGHTS:
            # A barrier: whoever sent it waits until it is closed.
            for descriptor in array.array("i", value[: len(value) // 4 * 4]):
                os.close(descriptor)
        elif kind == socket.SCM_CREDENTIALS:
            sender_pid = struct.unpack("iII", value[:12])[0]
    if data != b"BARRIER=1":
        say(pid=sender_pid, text=data.decode())
