// mynah: a table of verbs. What each does is in a file of its own.
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/completion.h"
#include "cli/config.h"
#include "cli/devices.h"
#include "cli/doctor.h"
#include "cli/import.h"
#include "cli/models.h"
#include "cli/phonemes.h"
#include "cli/profile.h"
#include "cli/program.h"
#include "cli/ps.h"
#include "cli/pull.h"
#include "cli/signals.h"
#include "cli/speak.h"
#include "cli/transcribe.h"
#include "cli/tune.h"
#include "cli/vad.h"
#include "cli/verb.h"
#include "cli/version.h"
#include "cli/voices.h"
#include "cli/wer.h"
#include "place/workers/worker_main.h"
#include "place/workers/worker_protocol.h"

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
  // Before anything else is opened: its descriptors are where mynah put them.
  if (argc > 1 && std::string_view(argv[1]) == mynah::place::kWorkerArgument) {
    return mynah::place::run_worker();
  }
  fill_closed_streams();
  using namespace mynah::cli;  // NOLINT(google-build-using-namespace): main belongs to it
  const std::vector<Verb> verbs = {
      verb<TranscribeCommand>("transcribe", "Turn recordings, or speech on a pipe, into text."),
      verb<SpeakCommand>("speak", "Turn text into speech."),
      verb<VoicesCommand>("voices", "List voices, and hear them."),
      verb<PhonemesCommand>("phonemes", "Show how a text is read."),
      verb<WerCommand>("wer", "Score recordings against what was said in them."),
      verb<PullCommand>("pull", "Bring a model: tiny.en, base, silero, kokoro ..."),
      verb<ImportCommand>("import", "Take in a model file that you already have."),
      verb<ModelsCommand>("models", "List, show, verify and remove models."),
      verb<DevicesCommand>("devices", "Show what there is to compute on, and what helps."),
      verb<DoctorCommand>("doctor",
                          "Say what will keep a speech stack from working, and what mends it."),
      verb<TuneCommand>("tune",
                        "Measure models on this machine's devices, and keep what is fastest."),
      verb<ProfileCommand>("profile", "List, use, show and compare measured placements."),
      verb<PsCommand>("ps", "Show what mynah has loaded, and where."),
      verb<VadCommand>("vad", "Find speech in recordings."),
      verb<ConfigCommand>("config", "Print every option, its value and where that came from."),
      verb<CompletionCommand>("completion", "Print a script that completes mynah's command lines."),
      verb<VersionCommand>("version", "Print the version and how it was built."),
  };
  StopSignals signals;
  OutputStream out(1);
  OutputStream err(2);
  InputStream in(0);
  Context context{.out = out,
                  .err = err,
                  .in = in,
                  .environment = Environment::of_process(),
                  .stop = signals.token(),
                  .stopping_signal = [&signals] { return signals.received(); },
                  .verbs = verbs,
                  .verb = {},
                  .json = false};
  signals.when_late([&context] {
    context.say(
        "stopping, once what it is at is done: a window, a clause, or a last look at a "
        "device; a second signal (Ctrl-C) ends it at once");
  });
  const int code = run_program(std::vector<std::string>(argv + 1, argv + argc), context);
  signals.when_late({});
  return code;
}
