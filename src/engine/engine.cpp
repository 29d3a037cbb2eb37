#include "engine/engine.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace mynah::engine {

namespace {

// "/models/tiny.gguf" of the name of a lease: what else it says is behind a line's end.
std::string path_of(const std::string& name) {
  return name.substr(0, name.find('\n'));
}

template <class Opened>
void add_open(Leases<Opened>& leases, OpenModel::Does does,
              std::optional<std::chrono::milliseconds> usual, std::vector<OpenModel>& all) {
  using Clock = std::chrono::steady_clock;
  for (const auto& open : leases.look()) {
    const auto kept = open.keep_alive ? open.keep_alive : usual;
    std::optional<Clock::duration> left;
    if (kept && *kept != Clock::duration::max()) {
      const auto idle = open.holders > 0 ? Clock::duration() : Clock::now() - open.returned;
      left = std::max(Clock::duration(), *kept - idle);
    }
    const Opened& model = *open.lease;
    all.push_back({.does = does,
                   .path = path_of(open.name),
                   .device = model.placer ? model.placer->device(model.id) : "cpu",
                   .holders = open.holders,
                   .left = left});
  }
}

// How many computed.
template <class Opened>
Result<size_t> try_each(Leases<Opened>& leases) {
  size_t computed = 0;
  for (const auto& open : leases.look()) {
    const Opened& model = *open.lease;
    // What was let go of is not loaded for this.
    const bool is_loaded = model.placer == nullptr ||
                           model.placer->state().openings().open_places().contains(model.id);
    if (!is_loaded) {
      continue;
    }
    if (const Status tried = model.warm_up(); !tried) {
      return fail(tried.error().code,
                  fmt::format("{}: {}", path_of(open.name), tried.error().message));
    }
    ++computed;
  }
  return computed;
}

}  // namespace

Engine::Engine(PlacementWish placement, Surroundings surroundings)
    : placement_(std::move(placement)),
      surroundings_(std::move(surroundings)),
      keep_alive_(placement_.beside->state().context().options().keep_alive),
      recognizers_([this] { housekeeper_.wake(); }),
      detectors_([this] { housekeeper_.wake(); }),
      synthesizers_([this] { housekeeper_.wake(); }),
      chats_([this] { housekeeper_.wake(); }),
      embedders_([this] { housekeeper_.wake(); }) {}

Result<std::unique_ptr<Engine>> Engine::create(PlacementWish placement, Surroundings surroundings) {
  MYNAH_TRY(placement.beside, open_placer(placement, surroundings));
  std::unique_ptr<Engine> engine(new Engine(std::move(placement), std::move(surroundings)));
  engine->housekeeper_.start([open = engine.get()] { return open->let_go_idle(); });
  return engine;
}

std::chrono::milliseconds Engine::let_go_idle() {
  recognizers_.let_go_idle(keep_alive_);
  detectors_.let_go_idle(keep_alive_);
  synthesizers_.let_go_idle(keep_alive_);
  chats_.let_go_idle(keep_alive_);
  embedders_.let_go_idle(keep_alive_);
  // What is held and due at once is looked for once a second; who sleeps longer is woken by words.
  constexpr std::chrono::milliseconds kSoonest{1000};
  constexpr std::chrono::hours kLatest{1};
  std::chrono::steady_clock::duration next = kLatest;
  for (const auto& due : {recognizers_.next_due(keep_alive_), detectors_.next_due(keep_alive_),
                          synthesizers_.next_due(keep_alive_), chats_.next_due(keep_alive_),
                          embedders_.next_due(keep_alive_)}) {
    next = std::min(next, due.value_or(kLatest));
  }
  return std::max(kSoonest, std::chrono::ceil<std::chrono::milliseconds>(next));
}

template <class Opened, class Wish>
Result<typename Leases<Opened>::Lease> Engine::take(
    Leases<Opened>& leases, const std::string& name, Wish wish, Warm warm,
    Result<Opened> (*open)(const Wish& wish, const Surroundings& surroundings)) {
  wish.placement = placement_;
  const auto open_one = [&]() -> Result<std::unique_ptr<const Opened>> {
    MYNAH_TRY(Opened opened, open(wish, surroundings_));
    if (opened.placer != nullptr) {
      opened.placer->state().openings().keep_alive(opened.id, std::nullopt);
    }
    if (warm == Warm::Yes) {
      MYNAH_TRY_STATUS(opened.warm_up());
    }
    return std::make_unique<const Opened>(std::move(opened));
  };
  return leases.take(name, open_one, surroundings_.stop);
}

Result<Leases<OpenedRecognizer>::Lease> Engine::recognizer(RecognizerWish wish, Warm warm) {
  const std::string name =
      fmt::format("{}\n{}", hearing_model(wish, surroundings_.environment), wish.vad_model);
  return take(recognizers_, name, std::move(wish), warm, open_recognizer);
}

Result<Leases<OpenedDetector>::Lease> Engine::detector(DetectorWish wish, Warm warm) {
  const std::string name =
      fmt::format("{}\n{}", detecting_model(wish, surroundings_.environment), wish.rate_hz);
  return take(detectors_, name, std::move(wish), warm, open_detector);
}

Result<Leases<OpenedSynthesizer>::Lease> Engine::synthesizer(SynthesizerWish wish,
                                                             const SpeakingModel& model,
                                                             Warm warm) {
  // What reads text for it is a part of it.
  const std::string name = fmt::format("{}\n{}\n{}", model.path, wish.voice_config, wish.lexicon);
  return take(synthesizers_, name, std::move(wish), warm, open_synthesizer);
}

Result<Leases<OpenedChat>::Lease> Engine::chat(ChatWish wish, Warm warm) {
  const std::string name = fmt::format("{}\n{}", writing_model(wish, surroundings_.environment),
                                       wish.context.value_or(-1));
  return take(chats_, name, std::move(wish), warm, open_chat);
}

Result<Leases<OpenedEmbedder>::Lease> Engine::embedder(EmbedWish wish, Warm warm) {
  const std::string name = check_embedding_model(wish, surroundings_.environment).value_or("");
  return take(embedders_, name, std::move(wish), warm, open_embedder);
}

void Engine::unload() {
  recognizers_.let_go_unused();
  detectors_.let_go_unused();
  synthesizers_.let_go_unused();
  chats_.let_go_unused();
  embedders_.let_go_unused();
}

size_t Engine::unload(const std::string& path) {
  const auto of = [&path](const std::string& name) { return path_of(name) == path; };
  return recognizers_.let_go_of(of).size() + detectors_.let_go_of(of).size() +
         synthesizers_.let_go_of(of).size() + chats_.let_go_of(of).size() +
         embedders_.let_go_of(of).size();
}

std::vector<OpenModel> Engine::open_models() {
  std::vector<OpenModel> all;
  add_open(recognizers_, OpenModel::Does::Hear, keep_alive_, all);
  add_open(detectors_, OpenModel::Does::Detect, keep_alive_, all);
  add_open(synthesizers_, OpenModel::Does::Speak, keep_alive_, all);
  add_open(chats_, OpenModel::Does::Write, keep_alive_, all);
  add_open(embedders_, OpenModel::Does::Embed, keep_alive_, all);
  return all;
}

std::vector<HearingLoad> Engine::hearing_loads() {
  std::vector<HearingLoad> all;
  for (const auto& open : recognizers_.look()) {
    all.push_back(open.lease->recognizer->load());
  }
  return all;
}

Result<size_t> Engine::try_open_models() {
  MYNAH_TRY(const size_t heard, try_each(recognizers_));
  MYNAH_TRY(const size_t detected, try_each(detectors_));
  MYNAH_TRY(const size_t spoken, try_each(synthesizers_));
  MYNAH_TRY(const size_t written, try_each(chats_));
  MYNAH_TRY(const size_t embedded, try_each(embedders_));
  return heard + detected + spoken + written + embedded;
}

}  // namespace mynah::engine
