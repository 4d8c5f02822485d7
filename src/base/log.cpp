#include "base/log.h"

#include <fmt/core.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/text.h"

namespace fairlead {

std::optional<LogLevel> parse_log_level(std::string_view text) {
    if (text == "debug") return LogLevel::debug;
    if (text == "info") return LogLevel::info;
    if (text == "warn") return LogLevel::warn;
    if (text == "error") return LogLevel::error;
    return std::nullopt;
}

std::optional<LogFormat> parse_log_format(std::string_view text) {
    if (text == "text") return LogFormat::text;
    if (text == "json") return LogFormat::json;
    return std::nullopt;
}

namespace {

std::string_view name_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warn:
            return "warn";
        case LogLevel::error:
            return "error";
    }
    return "error";
}

// A JSON string, which is also how a text value with spaces or control characters is written: one line stays one line.
void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

bool needs_quotes(std::string_view text) {
    return text.empty() || std::any_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\';
           });
}

void append_value(std::string& out, const LogField::Value& value, LogFormat format) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        if (format == LogFormat::json || needs_quotes(*text)) {
            append_quoted(out, *text);
        } else {
            out += *text;
        }
    } else {
        std::visit(
            [&](const auto& plain) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(plain)>, std::string_view>) {
                    out += fmt::format("{}", plain);
                }
            },
            value);
    }
}

}  // namespace

struct Log::Sink {
    spdlog::logger logger{"fairlead", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
};

Log::Log(LogLevel level, LogFormat format) : level_(level), format_(format), sink_(std::make_unique<Sink>()) {
    sink_->logger.set_level(spdlog::level::trace);  // our own level decides before a line is built
    sink_->logger.set_pattern("%v");
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view event, LogFields fields) {
    if (!enabled(level)) return;
    std::string line;
    const std::string time = rfc3339_micros(std::chrono::system_clock::now());
    switch (format_) {
        case LogFormat::text:
            line = fmt::format("{} {:5} {}", time, name_of(level), event);
            for (const auto& field : fields) {
                line += ' ';
                line += field.name;
                line += '=';
                append_value(line, field.value, format_);
            }
            break;
        case LogFormat::json:
            line = fmt::format(R"({{"time":"{}","level":"{}","event":)", time, name_of(level));
            append_quoted(line, event);
            for (const auto& field : fields) {
                line += ',';
                append_quoted(line, field.name);
                line += ':';
                append_value(line, field.value, format_);
            }
            line += '}';
            break;
    }
    sink_->logger.log(spdlog::level::info, line);
}

}  // namespace fairlead
