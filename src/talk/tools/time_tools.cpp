// Clock, calculator, timers and alarms.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "talk/tools/arithmetic.h"
#include "talk/tools/own_tools.h"
#include "talk/tools/zones.h"

namespace mynah::talk {

namespace {

ToolJson own_schema(ToolJson properties, std::vector<std::string> required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

ToolJson described(std::string_view type, std::string_view what) {
  return {{"type", type}, {"description", what}};
}

// A tool that is one function.
class OwnTool final : public Tool {
 public:
  using Does = std::function<Result<std::string>(const ToolJson&)>;

  OwnTool(ToolFacts facts, Does does) : facts_(std::move(facts)), does_(std::move(does)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments,
                                        const ToolRun& /*run*/) override {
    return does_(arguments);
  }

 private:
  ToolFacts facts_;
  Does does_;
};

std::shared_ptr<Tool> looking(std::string name, std::string description, ToolJson parameters,
                              OwnTool::Does does) {
  return std::make_shared<OwnTool>(ToolFacts{.name = std::move(name),
                                             .description = std::move(description),
                                             .parameters = std::move(parameters),
                                             .origin = std::string(kOwnOrigin),
                                             .changes = false,
                                             .unnoticed = true,
                                             .may_leave = true},
                                   std::move(does));
}

std::shared_ptr<Tool> changing(std::string name, std::string description, ToolJson parameters,
                               OwnTool::Does does) {
  return std::make_shared<OwnTool>(ToolFacts{.name = std::move(name),
                                             .description = std::move(description),
                                             .parameters = std::move(parameters),
                                             .origin = std::string(kOwnOrigin),
                                             .changes = true,
                                             .may_leave = true},
                                   std::move(does));
}

// Of seconds, minutes and hours, each of which may be missing.
Result<std::chrono::seconds> length_of(const ToolJson& arguments) {
  constexpr std::array<std::pair<const char*, int>, 3> kUnits = {
      {{"hours", 3600}, {"minutes", 60}, {"seconds", 1}}};
  double sum_s = 0;
  for (const auto& [unit, seconds] : kUnits) {
    const auto found = arguments.find(unit);
    if (found == arguments.end() || found->is_null()) {
      continue;
    }
    if (!found->is_number()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted a number, found {}", unit, found->type_name()));
    }
    sum_s += found->get<double>() * seconds;
  }
  const auto longest_s = static_cast<double>(kLongestTimer.count());
  if (!(sum_s >= 1 && sum_s <= longest_s)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted seconds, minutes or hours, from a second to {} days",
                            kLongestTimer / std::chrono::hours(24)));
  }
  return std::chrono::seconds(static_cast<int64_t>(sum_s));
}

Result<std::string> timer_line(const Timer& timer, SystemSeconds now) {
  const std::string label = timer.label.empty() ? "" : fmt::format(" ({})", timer.label);
  if (timer.is_alarm()) {
    MYNAH_TRY(const std::string when, time_in_zone(timer.due, timer.zone));
    return fmt::format("alarm {}{} at {}", timer.id, label, when);
  }
  const auto left = std::max(timer.due - now, std::chrono::seconds(0));
  constexpr int kMinute_s = 60;
  constexpr int kHour_s = 3600;
  return fmt::format("timer {}{} is over in {}:{:02}:{:02}", timer.id, label,
                     left.count() / kHour_s, left.count() / kMinute_s % kMinute_s,
                     left.count() % kMinute_s);
}

Result<std::string> set_timer(Timers& timers, const ToolJson& arguments, SystemSeconds now) {
  MYNAH_TRY(const auto length, length_of(arguments));
  MYNAH_TRY(std::string label, text_argument(arguments, "label"));
  MYNAH_TRY(const Timer timer,
            timers.add({.due = now + length, .label = std::move(label), .zone = {}}, now));
  return timer_line(timer, now);
}

Result<std::string> set_alarm(Timers& timers, const ToolJson& arguments, SystemSeconds now) {
  MYNAH_TRY(const std::string written, text_argument(arguments, "time"));
  MYNAH_TRY(const std::string wanted, text_argument(arguments, "zone"));
  MYNAH_TRY(std::string label, text_argument(arguments, "label"));
  MYNAH_TRY(std::string zone, zone_named(wanted));
  MYNAH_TRY(const SystemSeconds due, next_time(written, zone, now));
  MYNAH_TRY(const Timer timer,
            timers.add({.due = due, .label = std::move(label), .zone = std::move(zone)}, now));
  return timer_line(timer, now);
}

Result<std::string> list_timers(Timers& timers, SystemSeconds now) {
  MYNAH_TRY(const std::vector<Timer> all, timers.all());
  std::string lines;
  for (const Timer& timer : all) {
    MYNAH_TRY(const std::string line, timer_line(timer, now));
    lines += line + "\n";
  }
  return lines.empty() ? "there are none" : lines;
}

Result<std::string> cancel_timer(Timers& timers, const ToolJson& arguments) {
  const auto id = arguments.find("id");
  if (id == arguments.end() || !id->is_number_integer()) {
    return fail(ErrorCode::InvalidInput, "id: wanted a number, as list_timers tells it");
  }
  MYNAH_TRY(const bool was_there, timers.remove(id->get<int64_t>()));
  if (!was_there) {
    return fail(ErrorCode::NotFound, fmt::format("there is no timer or alarm {}", id->dump()));
  }
  return fmt::format("{} is cancelled", id->dump());
}

}  // namespace

std::shared_ptr<Tool> make_clock_tool(NowOf now) {
  return looking("get_time", "Tells the date, the day of the week and the time.",
                 own_schema({{"zone", described("string",
                                                "A time zone such as Asia/Tokyo, or a city; "
                                                "without it: where the user is.")}},
                            {}),
                 [now = std::move(now)](const ToolJson& arguments) -> Result<std::string> {
                   MYNAH_TRY(const std::string wanted, text_argument(arguments, "zone"));
                   MYNAH_TRY(const std::string zone, zone_named(wanted));
                   return time_in_zone(now(), zone);
                 });
}

std::shared_ptr<Tool> make_calculator() {
  return looking("calculate", "Computes an arithmetic expression exactly.",
                 own_schema({{"expression", described("string",
                                                      "For example: 19.99 * 3 + 20% * 50, "
                                                      "sqrt(2), 5!, 2^100, round(10/3, 2)")}},
                            {"expression"}),
                 [](const ToolJson& arguments) -> Result<std::string> {
                   MYNAH_TRY(const std::string expression, text_argument(arguments, "expression"));
                   return compute(expression);
                 });
}

std::vector<std::shared_ptr<Tool>> make_timer_tools(const std::shared_ptr<Timers>& timers,
                                                    const NowOf& now) {
  const ToolJson label = described("string", "What it is for, in a word or two.");
  return {
      changing("set_timer", "Rings after a time.",
               own_schema({{"hours", described("number", "Hours.")},
                           {"minutes", described("number", "Minutes.")},
                           {"seconds", described("number", "Seconds.")},
                           {"label", label}},
                          {}),
               [timers, now](const ToolJson& arguments) {
                 return set_timer(*timers, arguments, now());
               }),
      changing(
          "set_alarm", "Rings when the clock shows a time.",
          own_schema(
              {{"time", described("string",
                                  "07:30 for the next time that clocks show it, or "
                                  "2026-12-24 18:00.")},
               {"zone", described("string", "A time zone or a city, where it is not the user's.")},
               {"label", label}},
              {"time"}),
          [timers, now](const ToolJson& arguments) {
            return set_alarm(*timers, arguments, now());
          }),
      looking("list_timers", "Tells which timers and alarms are set, with their numbers.",
              own_schema(ToolJson::object(), {}),
              [timers, now](const ToolJson& /*arguments*/) { return list_timers(*timers, now()); }),
      changing("cancel_timer", "Cancels a timer or an alarm.",
               own_schema({{"id", described("integer", "Its number, of list_timers.")}}, {"id"}),
               [timers](const ToolJson& arguments) { return cancel_timer(*timers, arguments); }),
  };
}

}  // namespace mynah::talk
