#include "cli/verbs.h"

#include "cli/completion.h"
#include "cli/config.h"
#include "cli/devices.h"
#include "cli/doctor.h"
#include "cli/import.h"
#include "cli/models.h"
#include "cli/phonemes.h"
#include "cli/profile.h"
#include "cli/ps.h"
#include "cli/pull.h"
#include "cli/speak.h"
#include "cli/transcribe.h"
#include "cli/tune.h"
#include "cli/vad.h"
#include "cli/version.h"
#include "cli/voices.h"
#include "cli/wer.h"

namespace mynah::cli {

std::vector<Verb> all_verbs() {
  return {
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
}

}  // namespace mynah::cli
