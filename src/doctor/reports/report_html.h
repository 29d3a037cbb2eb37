// Reports as a page to attach to a bug.
#pragma once

#include <string>
#include <string_view>

#include "doctor/reports/report_words.h"

namespace mynah::doctor {

// One self-contained HTML file in UTF-8: no script, nothing fetched, readable in light and dark.
// The facts stand folded at its end, as `mynah doctor --as` reads them. Whatever facts hold is
// escaped; bytes that are no UTF-8 are U+FFFD.
[[nodiscard]] std::string report_html(const ReportFrame& frame);

// Text as the content of an element or a quoted attribute.
[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace mynah::doctor
