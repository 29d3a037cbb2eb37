// mynah: runs the verb that it is told (verbs.h).
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "cli/command/program.h"
#include "cli/command/signals.h"
#include "cli/command/verb.h"
#include "cli/verbs.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/worker_main.h"

namespace {

// A descriptor below 3 that the caller closed would go to the next file or pipe that is opened, and
// be taken for standard input or output. It is filled with what fails to be read or written.
void fill_closed_streams() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) < 0) {
      // The lowest free number is this one; it stays open to the end.
      (void)::open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Many threads open models and let them go: an allocator for each would keep what they freed.
  // Measured after 32 threads with six small models: 9 MB more than before, 62 without.
  ::mallopt(M_ARENA_MAX, 2);
  // Before anything else is opened: its descriptors are where mynah put them.
  if (argc > 1 && std::string_view(argv[1]) == mynah::place::kWorkerArgument) {
    return mynah::place::run_worker();
  }
  fill_closed_streams();
  using namespace mynah::cli;  // NOLINT(google-build-using-namespace): main belongs to it
  const std::vector<Verb> verbs = all_verbs();
  StopSignals signals;
  OutputStream out(1);
  OutputStream err(2);
  InputStream in(0);
  Context context{.out = out,
                  .err = err,
                  .in = in,
                  .environment = mynah::Environment::of_process(),
                  .stop = signals.token(),
                  .stopping_signal = [&signals] { return signals.received(); },
                  .verbs = verbs,
                  .verb = {},
                  .json = false,
                  .take_when_late =
                      [&signals](std::function<void()> say) { signals.when_late(std::move(say)); }};
  signals.when_late([&context] {
    context.say(
        "stopping, once what it is at is done: a window, a clause, or a last look at a "
        "device; a second signal (Ctrl-C) ends it at once");
  });
  const int code = run_program(std::vector<std::string>(argv + 1, argv + argc), context);
  signals.when_late({});
  return code;
}
