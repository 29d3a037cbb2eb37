// WindowModel: text of windows of sound, whatever family writes it and wherever it is computed.
// What recordings and live sessions are heard with.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "speech/hearing.h"
#include "speech/probe.h"
#include "speech/recognizer.h"
#include "speech/stage_place.h"
#include "tensor/backend.h"

namespace mynah {

// Milliseconds of each stage.
struct WindowTimings {
  double mel_ms = 0;
  double encoder_ms = 0;
  double decoder_ms = 0;
  double words_ms = 0;

  // What was spent since then.
  [[nodiscard]] WindowTimings since(const WindowTimings& before) const {
    return {.mel_ms = mel_ms - before.mel_ms,
            .encoder_ms = encoder_ms - before.encoder_ms,
            .decoder_ms = decoder_ms - before.decoder_ms,
            .words_ms = words_ms - before.words_ms};
  }

  void add(const WindowTimings& spent, double share = 1) {
    mel_ms += spent.mel_ms * share;
    encoder_ms += spent.encoder_ms * share;
    decoder_ms += spent.decoder_ms * share;
    words_ms += spent.words_ms * share;
  }
};

// "cpu", "cuda:0".
struct WindowDevices {
  std::string encoder;
  std::string decoder;

  // One name; two where they are apart: "cuda:0,cpu".
  [[nodiscard]] std::string text() const {
    return encoder == decoder ? encoder : encoder + "," + decoder;
  }
};

// Options and rules of one run over one model. One thread at a time.
class WindowDecoder {
 public:
  virtual ~WindowDecoder() = default;

  // One text a task, in their order; a text depends on its own task alone. Once stop is requested
  // it ends between two layers or two tokens, and the texts mean nothing. Errors are the device's.
  [[nodiscard]] virtual Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                                const std::stop_token& stop) = 0;

  // The first text that comes to mind: not tried again, without word times. For what is shown while
  // it is still being said; silent where it is in doubt. Errors are the device's.
  [[nodiscard]] virtual Result<HeardWindow> draft(const WindowTask& task,
                                                  const std::stop_token& stop) = 0;

  // What was spent so far.
  [[nodiscard]] virtual const WindowTimings& timings() const = 0;
};

// Const after load; shared by all who listen.
class WindowModel {
 public:
  virtual ~WindowModel() = default;

  // Never null.
  [[nodiscard]] virtual std::shared_ptr<const HearingHeader> header() const = 0;

  // Options that cannot be followed are refused, as HearingHeader::check() refuses them. They are
  // copied.
  [[nodiscard]] virtual Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const = 0;

  // Computes a short piece of sound, by all stages, always the same.
  [[nodiscard]] virtual Result<Probe> probe() const = 0;

  // Hears one full window with the default options, as far as one token after the other, and tells
  // what a device must have room for. Throws DeviceError. Unsupported where it computes in another
  // process.
  [[nodiscard]] virtual Result<WindowMemory> hear_full_window() const {
    return fail(ErrorCode::Unsupported, "the memory of a model in another process is not measured");
  }

  // Where it computes now.
  [[nodiscard]] virtual WindowDevices devices() const = 0;

  // Into how many parts long work is best shared out (Backend::parts()), each with a decoder of its
  // own.
  [[nodiscard]] virtual int parts() const { return 1; }

  // As Backend::run_parts().
  virtual void run_parts(int parts, FunctionRef<void(int)> fn) const {
    for (int i = 0; i < parts; ++i) {
      fn(i);
    }
  }
};

// How a model's weights are kept, and where its decoder is.
struct HearingLoadOptions {
  std::optional<DType> storage;                      // none: the file's own
  Precision precision = Precision::Fast;             // Exact: f32 arithmetic whatever the storage
  std::string cache_folder;                          // for packed weights and silence; empty: none
  std::optional<StagePlace> decoder = std::nullopt;  // none: as the encoder
};

// A file of a model of speech to text: its header was read, its weights were not. Const.
class HearingFile {
 public:
  virtual ~HearingFile() = default;

  [[nodiscard]] virtual std::shared_ptr<const HearingHeader> header() const = 0;

  // Bytes of all weights with matrices of this type.
  [[nodiscard]] virtual uint64_t weight_bytes(DType storage) const = 0;

  // Bytes beside the weights for one window at a time.
  [[nodiscard]] virtual uint64_t window_bytes() const = 0;

  // The encoder is on `encoder`, and the decoder too, unless it has a place of its own.
  [[nodiscard]] virtual Result<std::shared_ptr<const WindowModel>> load(
      const HearingLoadOptions& options, Backend& encoder) const = 0;
};

// Opens a model file of any family that hears (GGUF as `mynah pull` writes it, or any format that
// formats/ reads).
Result<std::shared_ptr<const HearingFile>> open_hearing(const std::string& path);

// `voice` cuts long recordings and may be null.
std::shared_ptr<const Recognizer> make_recognizer(std::shared_ptr<const WindowModel> model,
                                                  std::shared_ptr<const VoiceDetector> voice);

// A model file opened, loaded and made a recogniser.
Result<std::shared_ptr<const Recognizer>> load_recognizer(
    const std::string& path, const HearingLoadOptions& options, Backend& backend,
    std::shared_ptr<const VoiceDetector> voice);

}  // namespace mynah
