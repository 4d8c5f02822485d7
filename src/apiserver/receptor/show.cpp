// From our kinds to the Receptor's JSON, and what of a change the two views care about.
#include "apiserver/receptor/shape.h"
#include "json/quote.h"
#include "resource/kinds/lrp.h"

namespace fairlead::apiserver::receptor {

namespace {

// Writes one object, member by member.
class Writer {
public:
    Writer(const json::Object& spec, std::string& out) : spec_(spec), out_(out) { out_ += '{'; }
    ~Writer() { out_ += '}'; }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // What a member is when it is missing.
    void member(std::string_view name, std::string_view missing) {
        const auto* value = spec_.if_contains(name);
        begin(name);
        if (value != nullptr && !value->is_null()) {
            json::serialize_to(*value, out_);
        } else {
            out_ += missing;
        }
    }
    // Left out when it is missing or empty.
    void if_filled(std::string_view name) {
        const auto* value = spec_.if_contains(name);
        if (value == nullptr || value->is_null()) return;
        const bool empty = (value->is_string() && value->get_string().empty()) ||
                           (value->is_array() && value->get_array().empty()) ||
                           (value->is_object() && value->get_object().empty());
        if (!empty) member(name, "");
    }
    void text(std::string_view name, std::string_view text) {
        begin(name);
        out_ += text;
    }

private:
    void begin(std::string_view name) {
        if (out_.back() != '{') out_ += ',';
        json::append_quoted(name, out_);
        out_ += ':';
    }

    const json::Object& spec_;
    std::string& out_;
};

constexpr std::string_view no_tag = R"({"epoch":"","index":0})";

bool same(const json::Object& a, const json::Object& b, std::string_view name) {
    const auto* left = a.if_contains(name);
    const auto* right = b.if_contains(name);
    if (left == nullptr || right == nullptr) return left == right;
    return json::equal(*left, *right);
}

bool same_in(const json::Object& a, const json::Object& b, std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](std::string_view name) { return same(a, b, name); });
}

bool running(const json::Object* spec) {
    const auto* state = spec != nullptr ? spec->if_contains("state") : nullptr;
    return state != nullptr && state->is_string() && state->get_string() == "RUNNING";
}

}  // namespace

void append_desired(const json::Object& spec, View view, std::string& out) {
    Writer writer(spec, out);
    const bool whole = view == View::whole;
    writer.member("process_guid", R"("")");
    writer.member("domain", R"("")");
    if (whole) writer.member("rootfs", R"("")");
    writer.member("instances", "0");
    if (whole) {
        writer.if_filled("env");
        for (const auto* action : {"setup", "action", "monitor"}) writer.member(action, "null");
        for (const auto* number : {"start_timeout", "disk_mb", "memory_mb", "cpu_weight"}) writer.member(number, "0");
        writer.member("privileged", "false");
    }
    writer.member("ports", "[]");
    if (const auto routes = resource::routes_as_written(spec); !routes.empty()) writer.text("routes", routes);
    writer.member("log_guid", R"("")");
    if (whole) {
        writer.member("log_source", R"("")");
        writer.member("metrics_guid", R"("")");
        writer.if_filled("annotation");
        writer.if_filled("egress_rules");
    }
    writer.member("modification_tag", no_tag);
}

void append_actual(const json::Object& spec, View view, std::string& out) {
    Writer writer(spec, out);
    const bool whole = view == View::whole;
    for (const auto* text : {"process_guid", "instance_guid", "cell_id", "domain"}) writer.member(text, R"("")");
    writer.member("index", "0");
    writer.member("address", R"("")");
    writer.member("ports", "[]");
    writer.member("state", R"("")");
    if (whole) {
        writer.member("crash_count", "0");
        writer.if_filled("crash_reason");
        writer.if_filled("placement_error");
    }
    writer.member("since", "0");
    writer.member("evacuating", "false");
    writer.member("modification_tag", no_tag);
}

bool desired_differs(const json::Object& before, const json::Object& after, View view) {
    if (view == View::whole) return !same(before, after, "modification_tag");
    return !same_in(before, after, {"domain", "log_guid", "instances", "ports"}) ||
           resource::routes_as_written(before) != resource::routes_as_written(after);
}

bool actual_concerns(const json::Object* before, const json::Object* after, View view) {
    const bool changed = before != nullptr && after != nullptr;
    if (view == View::whole) return !changed || !same(*before, *after, "modification_tag");
    if (!running(before) && !running(after)) return false;
    return !changed || !same_in(*before, *after, {"state", "instance_guid", "cell_id", "domain", "address", "ports"});
}

}  // namespace fairlead::apiserver::receptor
