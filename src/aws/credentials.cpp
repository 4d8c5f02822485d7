#include "aws/credentials.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "json/value.h"

namespace fairlead::aws {
namespace {

using namespace std::chrono_literals;

constexpr auto renew_before = 5min;  // AWS hands out the next ones at least so early
constexpr std::size_t max_answer_bytes = 64UL * 1024;

// The value of the first of the names that there is.
std::string first_of(const std::map<std::string, std::string>& from, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const auto found = from.find(name);
        if (found != from.end()) return std::string(trim(found->second));
    }
    return {};
}

// Hosts that a token for credentials may be sent to in plain text: this machine, and those of ECS and EKS.
bool may_be_plain(std::string_view url) {
    auto host = url.substr(std::string_view("http://").size());
    host = host.substr(0, host.find('/'));
    if (host.starts_with('[')) {
        host = host.substr(1, host.find(']') == std::string_view::npos ? 0 : host.find(']') - 1);
    } else {
        host = host.substr(0, host.find(':'));
    }
    const bool numbers = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || (host.starts_with("127.") && numbers) || host == "::1" || host == "169.254.170.2" ||
           host == "169.254.170.23" || host == "fd00:ec2::23";
}

// What both servers of credentials answer.
Result<Credentials> parse_answer(const net::Response& response, std::string source) {
    if (response.status != 200 || response.body.size() > max_answer_bytes) {
        return fail(Errc::unavailable, fmt::format("the {} gives no credentials: status {}", source, response.status));
    }
    const auto value = json::parse(response.body, 1'000);
    if (!value) return fail(Errc::unavailable, fmt::format("the {} gives credentials that are no JSON", source));
    Credentials credentials;
    credentials.keys.access_key_id = json::string_at(*value, "AccessKeyId");
    credentials.keys.secret_access_key = json::string_at(*value, "SecretAccessKey");
    credentials.keys.session_token = json::string_at(*value, "Token");
    if (credentials.keys.access_key_id.empty() || credentials.keys.secret_access_key.empty()) {
        const auto why = json::string_at(*value, "Message");
        return fail(Errc::unavailable, fmt::format("the {} gives no keys{}{}", source, why.empty() ? "" : ": ", why));
    }
    if (const auto expires = json::string_at(*value, "Expiration"); !expires.empty()) {
        credentials.expires = from_rfc3339(expires);
        if (!credentials.expires) {
            return fail(Errc::unavailable,
                        fmt::format("the {} gives an expiration \"{}\" that is no time", source, expires));
        }
    }
    credentials.source = std::move(source);
    return credentials;
}

// "http://host:80/path?x" into what comes before the path, and the rest.
std::pair<std::string, std::string> split_url(const std::string& url) {
    const auto start = url.find("://");
    const auto slash = start == std::string::npos ? std::string::npos : url.find('/', start + 3);
    if (slash == std::string::npos) return {url, "/"};
    return {url.substr(0, slash), url.substr(slash)};
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody here sets any
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

Result<net::Response> credential_call(const std::string& base_url, const net::ClientRequest& request) {
    net::ClientOptions options;
    options.base_url = base_url;
    options.connect_timeout = 1s;
    options.timeout = 5s;
    return net::Client(std::move(options)).send(request);
}

Result<SigningKeys> parse_profile(std::string_view text, std::string_view profile) {
    SigningKeys keys;
    bool inside = false;
    bool found = false;
    for (const auto raw : split(text, '\n')) {
        const auto line = trim(raw);
        if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
        if (line.starts_with('[')) {
            auto section = trim(line.substr(1, line.find(']') == std::string_view::npos ? 0 : line.find(']') - 1));
            // The config file writes "profile NAME", the credentials file NAME.
            if (section.starts_with("profile ")) section = trim(section.substr(8));
            inside = section == profile;
            found = found || inside;
            continue;
        }
        if (!inside) continue;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const auto name = trim(line.substr(0, equals));
        const auto value = std::string(trim(line.substr(equals + 1)));
        if (name == "aws_access_key_id") keys.access_key_id = value;
        if (name == "aws_secret_access_key") keys.secret_access_key = value;
        if (name == "aws_session_token") keys.session_token = value;
    }
    if (!found) return fail(Errc::not_found, fmt::format("there is no profile [{}]", profile));
    if (keys.access_key_id.empty() || keys.secret_access_key.empty()) {
        return fail(Errc::invalid,
                    fmt::format("profile [{}] has no aws_access_key_id and aws_secret_access_key", profile));
    }
    return keys;
}

std::string CredentialChain::variable(const std::string& name) const {
    return std::string(trim(options_.environment(name).value_or("")));
}

bool CredentialChain::fresh() const {
    if (!current_) return false;
    if (current_->expires && clock_->now() + renew_before >= *current_->expires) return false;
    return file_.empty() || file_stamp(file_) == stamp_;
}

Result<Credentials> CredentialChain::get() {
    if (fresh()) return *current_;
    auto found = find();
    if (found) {
        current_ = *found;
        return found;
    }
    // Better the old ones for the minutes that they have left than none.
    if (current_ && current_->expires && clock_->now() < *current_->expires) return *current_;
    return found;
}

Result<Credentials> CredentialChain::find() {
    file_.clear();
    auto secret = of_secret();
    if (!secret) return fail(secret.error());
    if (*secret) return std::move(**secret);
    if (!options_.ambient) {
        return fail(Errc::invalid, options_.secret_field,
                    "names no Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and this server does not lend "
                    "its own credentials" +
                        (options_.lending.empty() ? std::string() : " " + options_.lending));
    }
    using Source = Result<std::optional<Credentials>> (CredentialChain::*)() const;
    // A profile that the zone names is what it wants, whatever else there is.
    if (options_.profile.empty()) {
        auto keys = of_environment();
        if (!keys) return fail(keys.error());
        if (*keys) return std::move(**keys);
    }
    auto profile = of_profile();
    if (!profile) return fail(profile.error());
    if (*profile) return std::move(**profile);
    for (const Source source : {&CredentialChain::of_container, &CredentialChain::of_instance}) {
        auto keys = (this->*source)();
        if (!keys) return fail(keys.error());
        if (*keys) return std::move(**keys);
    }
    return fail(Errc::invalid, options_.secret_field,
                "names no Secret with keys, and there are none in the environment, a profile file, the container or "
                "the instance of this server");
}

Result<std::optional<Credentials>> CredentialChain::of_secret() const {
    const auto& secret = options_.secret;
    Credentials credentials;
    credentials.keys.access_key_id = first_of(secret, {"AWS_ACCESS_KEY_ID", "aws_access_key_id"});
    credentials.keys.secret_access_key = first_of(secret, {"AWS_SECRET_ACCESS_KEY", "aws_secret_access_key"});
    credentials.keys.session_token = first_of(secret, {"AWS_SESSION_TOKEN", "aws_session_token"});
    credentials.source = "Secret";
    const bool id = !credentials.keys.access_key_id.empty();
    const bool key = !credentials.keys.secret_access_key.empty();
    // Who has put anything else there meant keys of his own: those of the server may be of another account.
    const bool none_meant = std::all_of(secret.begin(), secret.end(), [](const auto& each) {
        return each.first == "AWS_REGION" || each.first == "aws_region";
    });
    if (none_meant && (secret.empty() || options_.ambient)) return std::optional<Credentials>();
    if (!id || !key) {
        return fail(Errc::invalid, options_.secret_field,
                    fmt::format("the Secret has no {}", id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID"));
    }
    return std::optional(std::move(credentials));
}

Result<std::optional<Credentials>> CredentialChain::of_environment() const {
    Credentials credentials;
    credentials.keys = {variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                        variable("AWS_SESSION_TOKEN")};
    credentials.source = "environment";
    if (credentials.keys.access_key_id.empty() || credentials.keys.secret_access_key.empty())
        return std::optional<Credentials>();
    return std::optional(std::move(credentials));
}

Result<std::optional<Credentials>> CredentialChain::of_profile() {
    auto path = variable("AWS_SHARED_CREDENTIALS_FILE");
    const bool path_given = !path.empty();
    if (!path_given) {
        const auto home = variable("HOME");
        if (home.empty()) return std::optional<Credentials>();
        path = home + "/.aws/credentials";
    }
    auto profile = options_.profile.empty() ? variable("AWS_PROFILE") : options_.profile;
    const bool named = !profile.empty();
    if (!named) profile = "default";
    auto stamp = file_stamp(path);
    const auto text = read_file(path);
    if (!text) {
        if (!named && !path_given && text.error().code == Errc::not_found) return std::optional<Credentials>();
        return fail(Errc::invalid, options_.profile_field,
                    fmt::format("the file of profile [{}] cannot be read", profile));
    }
    auto keys = parse_profile(*text, profile);
    if (!keys) {
        // A file that has other profiles only is no reason not to look further, unless this one was asked for.
        if (!named && keys.error().code == Errc::not_found) return std::optional<Credentials>();
        return fail(Errc::invalid, options_.profile_field, keys.error().message);
    }
    file_ = std::move(path);
    stamp_ = std::move(stamp);
    return std::optional(Credentials{std::move(*keys), {}, "profile " + profile});
}

Result<std::optional<Credentials>> CredentialChain::of_container() const {
    std::string url;
    if (const auto relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !relative.empty()) {
        url = options_.container_endpoint + relative;
    } else {
        url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        if (url.empty()) return std::optional<Credentials>();
        if (!url.starts_with("https://") && (!url.starts_with("http://") || !may_be_plain(url))) {
            return fail(Errc::invalid, "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                        fmt::format("\"{}\" is neither https nor an address of this machine or of ECS and EKS", url));
        }
    }
    auto token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const auto file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
        const auto text = read_file(file);
        if (!text) return fail(Errc::unavailable, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "the file cannot be read");
        token = trim(*text);
    }
    const auto [base, target] = split_url(url);
    net::ClientRequest request;
    request.target = target;
    if (!token.empty()) request.headers.set("Authorization", token);
    const auto response = options_.call(base, request);
    if (!response) return fail(Errc::unavailable, "container credentials: " + response.error().text());
    auto credentials = parse_answer(*response, "container");
    if (!credentials) return fail(credentials.error());
    return std::optional(std::move(*credentials));
}

// IMDSv2: a token first, which a request that somebody tricked us into could not get.
Result<std::optional<Credentials>> CredentialChain::of_instance() const {
    if (equal_ignoring_case(variable("AWS_EC2_METADATA_DISABLED"), "true")) return std::optional<Credentials>();
    auto endpoint = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (endpoint.empty()) endpoint = options_.instance_endpoint;
    net::ClientRequest request;
    request.method = "PUT";
    request.target = "/latest/api/token";
    request.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
    const auto token = options_.call(endpoint, request);
    if (!token) return std::optional<Credentials>();  // not on an instance
    if (token->status != 200)
        return fail(Errc::unavailable, fmt::format("the instance gives no token: status {}", token->status));

    net::ClientRequest question;
    question.headers.set("X-aws-ec2-metadata-token", std::string(trim(token->body)));
    question.target = "/latest/meta-data/iam/security-credentials/";
    const auto roles = options_.call(endpoint, question);
    if (!roles) return fail(Errc::unavailable, "instance credentials: " + roles.error().text());
    if (roles->status == 404) return std::optional<Credentials>();  // an instance without a role
    const auto role = std::string(trim(split(roles->body, '\n').front()));
    if (roles->status != 200 || role.empty() || role.size() > 128)
        return fail(Errc::unavailable, fmt::format("the instance names no role: status {}", roles->status));
    question.target += percent_encode(role);
    const auto response = options_.call(endpoint, question);
    if (!response) return fail(Errc::unavailable, "instance credentials: " + response.error().text());
    auto credentials = parse_answer(*response, "instance");
    if (!credentials) return fail(credentials.error());
    return std::optional(std::move(*credentials));
}

}  // namespace fairlead::aws
