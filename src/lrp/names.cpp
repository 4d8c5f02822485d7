#include "lrp/names.h"

#include <fmt/core.h>

#include "base/text.h"
#include "dns/name.h"

namespace fairlead::lrp {

namespace {

tl::unexpected<Error> broken(std::string_view rule) { return fail(Errc::invalid, std::string(rule)); }

bool visible(char c) { return c > ' ' && c != '\x7f'; }

bool is_host_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

Result<std::string> read_path(std::string_view path) {
    if (path.size() > max_path_bytes) return broken(fmt::format("the path has more than {} bytes", max_path_bytes));
    for (const char c : path) {
        // It ends up in maps and configurations of proxies, which have their own meaning for these.
        if (!visible(c) || static_cast<unsigned char>(c) >= 0x80 || c == '"' || c == '\\' || c == '#') {
            return broken("a path consists of visible ASCII without \", \\ and #");
        }
    }
    return std::string(path);
}

}  // namespace

Result<std::string> read_host(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x80 && (!visible(c) || c == '\\')) {
            return broken("a host consists of labels of letters, digits, - and _, with dots between");
        }
    }
    auto name = dns::Name::parse(text);
    if (!name) return fail(std::move(name.error()));
    if (name->is_root()) return broken("a host has at least one label");
    auto host = name->host();
    for (const auto label : split(host, '.')) {
        for (const char c : label) {
            if (!is_host_byte(c)) {
                return broken("a host consists of labels of letters, digits, - and _, with dots between");
            }
        }
        if (label.front() == '-' || label.back() == '-') return broken("a label neither begins nor ends with -");
    }
    return host;
}

Result<std::string> read_name(std::string_view text) {
    text = text.substr(0, text.find('?'));
    while (text.ends_with('/')) text.remove_suffix(1);
    const auto slash = text.find('/');
    auto host_text = text.substr(0, slash);
    if (host_text.empty()) return broken("it has no host");
    const bool wildcard = host_text.starts_with("*.");
    if (wildcard) host_text.remove_prefix(2);
    if (host_text.find('*') != std::string_view::npos) return broken("* stands only at the beginning, as in *.foo.com");
    auto host = read_host(host_text);
    if (!host) return host;
    auto path = read_path(slash == std::string_view::npos ? std::string_view{} : text.substr(slash));
    if (!path) return path;
    return fmt::format("{}{}{}", wildcard ? "*." : "", *host, *path);
}

traffic::RuleKey key_of(std::string_view name) {
    traffic::RuleKey key;
    key.wildcard = name.starts_with("*.");
    if (key.wildcard) name.remove_prefix(2);
    const auto slash = std::min(name.find('/'), name.size());
    key.host = name.substr(0, slash);
    key.path = name.substr(slash);
    return key;
}

std::string text_of(const traffic::RuleKey& key) {
    std::string text;
    append_text(text, key);
    return text;
}

void append_text(std::string& out, const traffic::RuleKey& key) {
    out.reserve(out.size() + 2 + key.host.size() + key.path.size());
    if (key.wildcard) out += "*.";
    out += key.host;
    out += key.path;
}

}  // namespace fairlead::lrp
