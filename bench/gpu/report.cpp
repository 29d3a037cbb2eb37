#include "report.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace mynah::gpucheck {

namespace {

// Rows of one kind, of all sections or one.
std::vector<Json> rows_of(const Json& report, std::string_view kind,
                          std::string_view section = {}) {
  std::vector<Json> rows;
  for (const Json& part : report["sections"]) {
    if (!section.empty() && part["name"] != section) {
      continue;
    }
    for (const Json& row : part["rows"]) {
      if (row.value("row", "") == kind) {
        rows.push_back(row);
      }
    }
  }
  return rows;
}

// What the card can do at most, as far as it was measured here; 0: not known.
struct Ceiling {
  double bytes = 0;
  std::map<std::string, double> operations;  // by arithmetic
  std::string of;                            // who reached the most
};

Ceiling ceiling_of(const Json& report) {
  Ceiling ceiling;
  for (const Json& row : rows_of(report, "memory")) {
    ceiling.bytes = std::max(
        {ceiling.bytes, row.value("copy_bytes_per_s", 0.0), row.value("read_bytes_per_s", 0.0)});
  }
  for (const Json& row : rows_of(report, "product")) {
    double& best = ceiling.operations[row.value("arithmetic", "")];
    best = std::max(best, row.value("operations_per_s", 0.0));
  }
  for (const Json& row : rows_of(report, "peer")) {
    ceiling.bytes = std::max(ceiling.bytes, row.value("copy_bytes_per_s", 0.0));
    for (const char* type : {"bf16", "f32", "int8"}) {
      double& best = ceiling.operations[type];
      best = std::max(best, row.value(type, 0.0));
    }
  }
  return ceiling;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "";
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

void add_facts(const Json& report, std::string& text) {
  for (const Json& row : rows_of(report, "device")) {
    text += fmt::format("{}. Processor: {}.\n\n", row.value("description", ""),
                        row.value("processor", ""));
  }
  for (const Json& row : rows_of(report, "card")) {
    text += fmt::format(
        "{}, compute capability {}, {} multiprocessors, {:.1f} GB, driver {} (CUDA {}).\n\n",
        row.value("name", ""), row.value("compute_capability", ""), row.value("multiprocessors", 0),
        row.value("memory_bytes", 0.0) / 1e9, row.value("driver", ""), row.value("cuda", ""));
  }
}

void add_ceiling(const Json& report, std::string& text) {
  text += "| Ceiling | mynah | PyTorch |\n|---|---|---|\n";
  const auto peers = rows_of(report, "peer");
  const Json peer = peers.empty() ? Json::object() : peers.front();
  const auto of_peer = [&](const std::string& key, double unit, const char* name) {
    return peer.contains(key) ? fmt::format("{:.1f} {}", peer.value(key, 0.0) / unit, name)
                              : std::string();
  };
  for (const Json& row : rows_of(report, "memory")) {
    text += fmt::format("| copy, read and written | {:.1f} GB/s | {} |\n",
                        row.value("copy_bytes_per_s", 0.0) / 1e9,
                        of_peer("copy_bytes_per_s", 1e9, "GB/s"));
    text += fmt::format("| read | {:.0f} GB/s | |\n", row.value("read_bytes_per_s", 0.0) / 1e9);
  }
  std::map<std::string, double> best;
  for (const Json& row : rows_of(report, "product")) {
    double& most = best[row.value("arithmetic", "")];
    most = std::max(most, row.value("operations_per_s", 0.0));
  }
  for (const auto& [arithmetic, operations] : best) {
    text += fmt::format("| products, {} | {:.1f} TFLOP/s | {} |\n", arithmetic, operations / 1e12,
                        of_peer(arithmetic, 1e12, "TFLOP/s"));
  }
  for (const Json& row : rows_of(report, "model")) {
    const std::string key = fmt::format("{}, {}", row.value("name", ""), row.value("stage", ""));
    if (peer.contains(key)) {
      text += fmt::format("| {} | {} | {} |\n", key, milliseconds(row.value("seconds", 0.0)),
                          of_peer(key, 1e-3, "ms"));
    }
  }
  for (const Json& row : rows_of(report, "launch")) {
    text +=
        fmt::format("| the smallest operation | {:.1f} us | |\n", row.value("seconds", 0.0) * 1e6);
  }
  text += "\n";
}

void add_uses(const Json& report, std::string& text) {
  text +=
      "| From nothing to a clip's text | opened | model loaded | first text |\n|---|---|---|---|\n";
  for (const char* section : {"first use", "later use"}) {
    for (const Json& row : rows_of(report, "use", section)) {
      if (!row.contains("note")) {
        text += fmt::format("| {} | {:.2f} s | {:.2f} s | {:.2f} s |\n", section,
                            row.value("opened_s", 0.0), row.value("loaded_s", 0.0),
                            row.value("first_text_s", 0.0));
      }
    }
  }
  text += "\n";
}

void add_clips(const Json& report, std::string& text) {
  text +=
      "| Clips, tiny.en | errors of words | one by one | all at once | times real time |\n"
      "|---|---|---|---|---|\n";
  for (const Json& row : rows_of(report, "clips")) {
    if (row.contains("note")) {
      continue;
    }
    double alone = 0;
    for (const Json& clip : rows_of(report, "clip")) {
      alone += clip["device"] == row["device"] ? clip.value("seconds", 0.0) : 0;
    }
    const double audio = row.value("audio_s", 0.0);
    text += fmt::format("| {} | {} of {} | {:.3f} s | {:.3f} s | {:.0f}, {:.0f} |\n",
                        row.value("device", ""), row.value("errors", 0), row.value("words", 0),
                        alone, row.value("batch_seconds", 0.0), audio / alone,
                        audio / row.value("batch_seconds", 0.0));
  }
  text += "\n";
}

void add_models(const Json& report, const Ceiling& ceiling, std::string& text) {
  text += "| Model, weights from a seed | stage | time | of the ceiling |\n|---|---|---|---|\n";
  for (const Json& row : rows_of(report, "model")) {
    const double seconds = row.value("seconds", 0.0);
    if (seconds == 0) {
      continue;
    }
    std::string share;
    if (row.contains("bytes")) {
      share = percent(row.value("bytes", 0.0) / seconds, ceiling.bytes) + " of bandwidth";
    } else if (row.contains("operations") && ceiling.operations.contains("bf16")) {
      share = percent(row.value("operations", 0.0) / seconds, ceiling.operations.at("bf16")) +
              " of bf16";
    } else if (row.contains("audio_s")) {
      share = fmt::format("{:.0f} times real time", row.value("audio_s", 0.0) / seconds);
    } else if (row.contains("bytes_held")) {
      share = fmt::format("{:.2f} GB held", row.value("bytes_held", 0.0) / 1e9);
    }
    text += fmt::format("| {} | {} | {} | {} |\n", row.value("name", ""), row.value("stage", ""),
                        milliseconds(seconds), share);
  }
  text += "\n";
}

void add_timed(const Json& report, const char* kind, const Ceiling& ceiling, std::string& text) {
  text +=
      fmt::format("| {} | time | TFLOP/s | GB/s | of the ceiling |\n|---|---|---|---|---|\n", kind);
  for (const Json& row : rows_of(report, kind)) {
    if (row.contains("wrong")) {
      text += fmt::format("| {} | WRONG | | | |\n", row.value("name", ""));
      continue;
    }
    const double seconds = row.value("seconds", 0.0);
    const auto peak = ceiling.operations.find(row.value("arithmetic", ""));
    // What the card would need at least, by the slower of the two.
    double least = ceiling.bytes > 0 ? row.value("bytes", 0.0) / ceiling.bytes : 0.0;
    if (peak != ceiling.operations.end() && peak->second > 0) {
      least = std::max(least, row.value("operations", 0.0) / peak->second);
    }
    text += fmt::format("| {} | {} | {:.2f} | {:.0f} | {} |\n", row.value("name", ""),
                        milliseconds(seconds), row.value("operations_per_s", 0.0) / 1e12,
                        row.value("bytes_per_s", 0.0) / 1e9, percent(least, seconds));
  }
  text += "\n";
}

void add_table(const Json& report, std::string& text) {
  int passed = 0;
  int failed = 0;
  for (const Json& row : rows_of(report, "table")) {
    passed += row.value("passed", 0);
    failed += row.value("failed", 0);
  }
  text +=
      fmt::format("Operation table against `ref`: {} cases passed, {} failed.\n\n", passed, failed);
  for (const Json& row : rows_of(report, "fault")) {
    text += fmt::format("- {}: {} ({})\n", row.value("name", ""),
                        row.value("right", false) ? "told" : "NOT AS IT SHOULD BE",
                        row.value("told", ""));
  }
}

}  // namespace

std::vector<std::string> what_is_wrong(const Json& report) {
  std::vector<std::string> wrong;
  for (const Json& section : report["sections"]) {
    if (section["status"] != "done" && section["status"] != kNotAskedFor) {
      wrong.push_back(
          fmt::format("section {}: {}", section.value("name", ""), section.value("status", "")));
    }
    for (const Json& row : section["rows"]) {
      const std::string name = row.value("name", "");
      if (row.contains("wrong")) {
        wrong.push_back(name + ": " + row.value("wrong", ""));
      } else if (row.contains("message")) {
        wrong.push_back(
            fmt::format("section {}: {}", section.value("name", ""), row.value("message", "")));
      } else if (!row.value("right", true)) {
        wrong.push_back(fmt::format("fault '{}': {}", name, row.value("told", "")));
      } else if (!row.value("same_bits_alone", true)) {
        wrong.push_back(name + ": rows alone have other bits than among others");
      } else if (!row.value("same_text_in_batch", true)) {
        wrong.push_back(name + ": another text alone than in a batch");
      }
    }
  }
  return wrong;
}

std::string as_markdown(const Json& report) {
  const Ceiling ceiling = ceiling_of(report);
  std::string text = fmt::format("# A card, measured on {}\n\n", report.value("date", ""));
  if (report.value("quick", false)) {
    text += "Quick: small sizes, once each. The times mean nothing.\n\n";
  }
  add_facts(report, text);
  const auto wrong = what_is_wrong(report);
  std::string left_out;
  size_t ran = 0;
  for (const Json& section : report["sections"]) {
    if (section["status"] == kNotAskedFor) {
      left_out += fmt::format("{}{}", left_out.empty() ? "" : ", ", section.value("name", ""));
    } else {
      ++ran;
    }
  }
  if (!left_out.empty()) {
    text += fmt::format("Only a part was asked for. Not looked at: {}.\n\n", left_out);
  }
  text += wrong.empty() ? fmt::format("{} sections, nothing was wrong.\n\n", ran) : "Wrong:\n\n";
  for (const std::string& line : wrong) {
    text += "- " + line + "\n";
  }
  text += wrong.empty() ? "" : "\n";
  add_ceiling(report, text);
  add_uses(report, text);
  add_clips(report, text);
  add_models(report, ceiling, text);
  add_timed(report, "product", ceiling, text);
  add_timed(report, "operation", ceiling, text);
  add_table(report, text);
  return text;
}

}  // namespace mynah::gpucheck
