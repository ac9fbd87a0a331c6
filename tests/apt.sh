# shellcheck shell=sh
# For tests/suites.sh and tests/cross.sh: apt, from the mirror that this machine uses already, in directories
# of its own. The system's apt state is not touched, nothing is installed and no privilege is needed.

private_apt() { # KIND SUITE DIRECTORY, where KIND is deb or deb-src
    mkdir -p "$3/lists/partial" "$3/cache/archives/partial"
    # shellcheck disable=SC2016 # apt expands these
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 !~ /-/ { print $2; exit }')
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "$1 [signed-by=$keyring] $mirror $2 main" >"$3/sources.list"
    cat >"$3/apt.conf" <<EOF
Dir::State "$3";
Dir::State::Lists "$3/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$3/cache";
Dir::Etc::SourceList "$3/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false"; // the mirror may be a snapshot of some day
APT::Sandbox::User "root";
EOF
    apt-get -qq -c "$3/apt.conf" update
}
