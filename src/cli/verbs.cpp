#include "cli/verbs.h"

#include "cli/chat/chat.h"
#include "cli/chat/embed.h"
#include "cli/chat/memory.h"
#include "cli/chat/schema.h"
#include "cli/command/version.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/doctor/doctor.h"
#include "cli/hear/transcribe.h"
#include "cli/hear/vad.h"
#include "cli/hear/wake.h"
#include "cli/hear/wer.h"
#include "cli/models/import.h"
#include "cli/models/models.h"
#include "cli/models/pull.h"
#include "cli/placement/devices.h"
#include "cli/placement/profile.h"
#include "cli/placement/ps.h"
#include "cli/placement/tune.h"
#include "cli/serve/health.h"
#include "cli/serve/keys.h"
#include "cli/serve/serve.h"
#include "cli/speak/phonemes.h"
#include "cli/speak/speak.h"
#include "cli/speak/voices.h"
#include "cli/talk/talk.h"

namespace mynah::cli {

std::vector<Verb> all_verbs() {
  return {
      verb<TranscribeCommand>("transcribe", "Turn recordings, or speech on a pipe, into text."),
      verb<SpeakCommand>("speak", "Turn text into speech."),
      verb<ChatCommand>("chat", "Converse with a language model, or ask it one thing."),
      verb<TalkCommand>("talk", "Converse out loud with a language model."),
      verb<EmbedCommand>("embed", "Make vectors of texts, to compare what they mean."),
      verb<MemoryCommand>("memory", "Show, search and forget what conversations left."),
      verb<SchemaCommand>("schema",
                          "Say whether texts keep to a schema, as answers would have to."),
      verb<ServeCommand>("serve",
                         "Hear, speak and write for clients of OpenAI's API and ollama's."),
      verb<KeysCommand>("keys", "Make, list and remove the keys that clients of mynah serve have."),
      verb<HealthCommand>("health", "Say whether a server lives, for a container's HEALTHCHECK."),
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
      verb<WakeCommand>("wake", "Find wake words in recordings."),
      verb<ConfigCommand>("config", "Print every option, its value and where that came from."),
      verb<CompletionCommand>("completion", "Print a script that completes mynah's command lines."),
      verb<VersionCommand>("version", "Print the version and how it was built."),
  };
}

}  // namespace mynah::cli
