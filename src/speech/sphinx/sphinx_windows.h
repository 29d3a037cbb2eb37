// SphinxWindows: PocketSphinx's US-English model, which distributions ship, as a WindowModel.
#pragma once

#include <memory>

#include "base/result.h"
#include "speech/window_model.h"

namespace mynah {

class SphinxWindows final : public WindowModel {
 public:
  // Environment where the model is not installed: says which package has it. Nothing is opened: a
  // decoder does that at its first window, which takes half a second.
  static Result<std::shared_ptr<const SphinxWindows>> create();

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override;

  // Unsupported: it is placed nowhere, so that nothing is to be proven.
  [[nodiscard]] Result<Probe> probe() const override;

  [[nodiscard]] WindowDevices devices() const override {
    return {.encoder = "cpu", .decoder = "cpu"};
  }

 private:
  explicit SphinxWindows(std::shared_ptr<const HearingHeader> header)
      : header_(std::move(header)) {}

  std::shared_ptr<const HearingHeader> header_;
};

}  // namespace mynah
